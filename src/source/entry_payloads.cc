#include "source/entry_payloads.h"

#include <utility>

#include "archive/access.h"
#include "base/checked.h"
#include "base/text.h"

namespace onnxar {
namespace {

/// The last entry whose local header begins at `offset` or before; the first one is at 0.
std::size_t entry_at_or_before(const Archive& archive, std::uint64_t offset) {
  std::size_t first = 0;
  for (std::size_t count = archive.size(); count > 1;) {
    const std::size_t half = count / 2;
    if (archive.entry(first + half).header_offset <= offset) first += half;
    count -= half;
  }
  return first;
}

}  // namespace

Resolved EntryPayloads::part(const Archive& archive, const ArchiveEntry& entry, Bytes part) {
  const bool is_whole = part.size() == entry.size;
  if (!verify_) return {payload_of(ByteSpan::borrow(part, archive.owner()), ArchiveAccess::origin(archive)), is_whole};
  auto source = is_whole ? whole(archive, entry) : slices_.source(archive, entry, part);
  return {payload_at(part, archive.owner(), std::move(source)), is_whole};
}

std::shared_ptr<const ByteSource> EntryPayloads::whole(const Archive& archive, const ArchiveEntry& entry) const {
  if (verify_) return std::make_shared<EntrySource>(archive, entry, threads_);
  return payload_of(ByteSpan::borrow(archive.bytes(entry), archive.owner()), ArchiveAccess::origin(archive)).source;
}

EntryPart part_of_file(const Archive& archive, std::uint64_t at, std::size_t count, const onnx::TensorSite& site,
                       const onnx::ExternalSlice& slice) {
  const auto length = slice.length ? slice.length : site.tensor.expected_size();
  const std::uint64_t offset = slice.offset >= at ? slice.offset - at : 0;  // 0 is a header, where no data is
  const std::size_t index = entry_at_or_before(archive, offset);
  if (length && index < count) {
    const ArchiveEntry entry = archive.entry(index);
    const Bytes whole = archive.bytes(entry);
    const auto begin = static_cast<std::uint64_t>(whole.data() - archive.file().data());
    const auto part = offset < begin ? std::nullopt : base::slice(whole, offset - begin, *length);
    if (part) return {entry, *part};
  }
  throw Error(Code::onnx_external_out_of_range,
              base::concat("it refers to bytes of the archive's own file, from ", slice.offset,
                           " on, that do not all lie in one entry of weights"),
              {"", site.tensor.range.begin});
}

}  // namespace onnxar
