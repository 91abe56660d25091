// Makes payloads of the entries of an archive, and of parts of them, which are verified while they are read.
#include "convert/entry_payloads.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include "archive/access.h"
#include "archive/external_tensor.h"
#include "base/byte_range.h"
#include "base/kept.h"
#include "base/text.h"

namespace onnxar {
namespace {

/// Returns the last entry whose local header begins at `offset` or before. Entries are in the order of the file, and
/// the first begins at 0, so one always exists.
std::size_t entry_at_or_before(const Archive& archive, std::uint64_t offset) {
  const auto entries = archive.entries();
  const auto after = std::ranges::upper_bound(entries, offset, {}, &ArchiveEntry::header_offset);
  return static_cast<std::size_t>(after - entries.begin()) - 1;
}

}  // namespace

Resolved EntryPayloads::part(base::Kept<const Archive> archive, const ArchiveEntry& entry, Bytes part) {
  const bool is_whole = part.size() == entry.size;
  if (!verifies(archive))
    return {payload_of(ByteSpan::borrow(part, archive.get().owner()), ArchiveAccess::origin(archive)), is_whole};
  // A slice alone cannot be compared with the CRC-32 of its entry; SlicedEntries verifies the entry once for all
  // slices.
  auto source = is_whole ? whole(archive, entry) : slices_.source(archive, entry, part);
  if (ArchiveAccess::file(archive).is_here())
    return {payload_at(part, archive.get().owner(), std::move(source)), is_whole};
  Payload produced{std::move(source)};
  produced.place = part;
  return {std::move(produced), is_whole};
}

bool EntryPayloads::verifies(const Archive& archive) const {
  return verify_ || !ArchiveAccess::file(archive).is_here();
}

std::shared_ptr<const ByteSource> EntryPayloads::whole(base::Kept<const Archive> archive,
                                                       const ArchiveEntry& entry) const {
  if (verifies(archive)) return std::make_shared<EntrySource>(archive, entry, threads_);
  return payload_of(ByteSpan::borrow(archive.get().bytes(entry), archive.get().owner()), ArchiveAccess::origin(archive))
      .source;
}

EntryPart part_of_file(const Archive& archive, std::uint64_t at, std::size_t count, const onnx::TensorSite& site,
                       const onnx::ExternalSlice& slice) {
  const auto length = slice.length ? slice.length : site.tensor.expected_size();
  // An offset before the archive becomes 0, the first local header, which is refused below because it is not data.
  const std::uint64_t offset = slice.offset >= at ? slice.offset - at : 0;
  const std::size_t index = entry_at_or_before(archive, offset);
  if (length && index < count) {
    const ArchiveEntry entry = archive.entry(index);
    const Bytes whole = ArchiveAccess::place(archive, entry);
    const auto begin = static_cast<std::uint64_t>(whole.data() - archive.file().data());
    // The range must end within this entry, because padding and headers between entries are not data.
    const auto part = offset < begin ? std::nullopt : base::slice(whole, offset - begin, *length);
    if (part) return {entry, *part};
  }
  throw Error(Code::onnx_external_out_of_range,
              base::concat("it refers to bytes of the archive file itself, from ", slice.offset,
                           " on, that are not within one weight entry"),
              {"", site.tensor.range.begin});
}

}  // namespace onnxar
