// Reads and checks the directory of an archive, and reads entries when they are used.
#include "archive/access.h"

#include <algorithm>
#include <array>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "archive/file_kind.h"
#include "archive/keys.h"
#include "base/checked.h"
#include "base/memory.h"
#include "base/text.h"
#include "zip/directory.h"

namespace onnxar {
namespace {

ByteSpan copy_of(const ByteSource& source) {
  const std::uint64_t size = source.size();
  std::shared_ptr<std::byte> memory = base::allocate(base::in_memory(size), AlignedCopies::alignment);
  std::span<std::byte> rest(memory.get(), base::in_memory(size));
  source.read([&rest](Bytes piece) {
    // Values are counted before they are decoded, and mapped bytes may change in between.
    if (piece.size() > rest.size()) throw Error(Code::io_changed, "the model was changed while it was read");
    std::ranges::copy(piece, rest.begin());
    rest = rest.subspan(piece.size());
  });
  const Bytes bytes(memory.get(), base::in_memory(size));
  return ByteSpan::borrow(bytes, std::move(memory));
}

static_assert(OpenOptions().max_entries == zip::Limits().entries);
static_assert(OpenOptions().max_directory_size == zip::Limits().directory_size);

void check_reserved_names(const zip::Directory& directory) {
  for (const zip::DirectoryEntry& entry : directory.entries()) {
    if (entry.name != model_entry_name && is_reserved_name(entry.name)) {
      throw Error(Code::archive_name_reserved,  // N13
                  "this version does not know the meaning of this reserved name; a newer reader is needed",
                  {std::string(entry.name), entry.central_offset});
    }
  }
}

void check_model(const zip::Directory& directory, const OpenOptions& options) {
  // The checks of spec/checking.md, steps 41 to 43, which need the directory only: the model itself is not read.
  const auto model = directory.find(model_entry_name);
  const zip::DirectoryEntry& last = directory.entries().back();
  if (!model) {
    throw Error(Code::archive_model_missing,  // P6
                base::concat("no entry is named ", model_entry_name, ": this zip file holds no ONNX model"),
                {"", directory.offset()});
  }
  const zip::DirectoryEntry& entry = directory.entries()[*model];
  if (*model + 1 != directory.entries().size()) {
    throw Error(Code::archive_model_not_last,  // P7
                base::concat("the model must be the last entry, but ", base::quoted(last.name), " follows it"),
                {std::string(entry.name), entry.central_offset});
  }
  const std::uint64_t limit = std::min(options.max_model_size, model_size_maximum);
  if (entry.size > limit) {
    throw Error(
        Code::archive_model_too_large,  // P8
        base::concat("a model of ", base::human_size(entry.size), " is over the limit of ", base::human_size(limit)),
        {std::string(entry.name), entry.central_offset});
  }
}

}  // namespace

std::string oversize_text(std::string_view subject_and_verb, std::uint64_t size) {
  return base::concat(subject_and_verb, " ", base::human_size(size), ", and protobuf reads less than 2 GiB");
}

Archive ArchiveAccess::open(OpenBytes bytes, const OpenOptions& options) {
  // The directory is proved before the bytes are prefetched: a file that is refused should not be read.
  zip::Directory directory = read_directory(bytes.file, bytes.ranges, options, bytes.zeros);
  const std::size_t model = directory.entries().size() - 1;
  using Opened = Archive::Parts::Opened;
  auto opened = std::make_shared<Opened>(Opened{std::move(bytes), std::move(directory)});
  Archive archive(detail::own<Archive::Parts>(std::move(opened), model));
  archive.prefetch(archive.file(), options.prefetch);
  return archive;
}

Bytes ArchiveAccess::place(const Archive& archive, const ArchiveEntry& entry) {
  if (ranges(archive) == nullptr) return archive.bytes(entry);
  archive.check_own(entry);
  return base::section(archive.file(), entry_ranges(archive).likely_data_offset(entry.index), entry.size);
}

Bytes ArchiveAccess::part(const Archive& archive, const ArchiveEntry& entry, Bytes place) {
  if (ranges(archive) == nullptr) return place;
  const Bytes whole = ArchiveAccess::place(archive, entry);
  return archive.part_at(entry.index, static_cast<std::uint64_t>(place.data() - whole.data()), place.size());
}

ByteSpan AlignedCopies::get(const Key& key, const ByteSource& source, std::uint64_t limit) {
  // Held while copying, so that two threads do not make the same copy.
  const std::scoped_lock lock(mutex_);
  if (const auto kept = kept_.find(key); kept != kept_.end()) return kept->second;
  ByteSpan copy = copy_of(source);
  // Two comparisons, because the sum of both sizes could wrap.
  if (copy.size() <= limit && bytes_ <= limit - copy.size()) {
    kept_.emplace(key, copy);
    bytes_ += copy.size();
  }
  return copy;
}

std::uint64_t EntryRanges::likely_data_offset(std::size_t index) const noexcept {
  const bool is_regular = directory_->regular_header_size(index) != 0;
  return is_regular ? directory_->limit_of(index) - directory_->entries()[index].size
                    : directory_->proved_data_offset(index);  // opening proved it
}

base::ByteRange EntryRanges::whole(std::size_t index) const noexcept {
  const std::uint64_t begin = directory_->entries()[index].header_offset;
  return {begin, directory_->limit_of(index) - begin};
}

/// Returns the range of the local header that the directory suggests; opening already proved the headers for which it
/// suggests none.
base::ByteRange EntryRanges::header(std::size_t index) const noexcept {
  return {directory_->entries()[index].header_offset, directory_->regular_header_size(index)};
}

/// REQUIRES: `header(index)` was read.
void EntryRanges::prove_read(std::size_t index) const {
  if (directory_->proved_data_offset(index) != 0) return;
  const base::ByteRange regular = header(index);
  directory_->prove_regular(base::section(memory_->bytes(), regular.offset, regular.length), index);
  if (directory_->proved_data_offset(index) != 0) return;
  // The header is longer or shorter, or faulty.
  const auto need = [this](std::span<const base::ByteRange> ranges) { memory_->need(ranges); };
  directory_->need_headers(memory_->bytes(), need, {&index, 1});
  static_cast<void>(directory_->prove_local(memory_->bytes(), index));
}

void EntryRanges::read_headers() const {
  std::vector<base::ByteRange> headers;
  for (std::size_t i = 0; i < directory_->entries().size(); ++i) {
    if (directory_->proved_data_offset(i) == 0) headers.push_back(header(i));
  }
  memory_->need(headers);
}

void EntryRanges::read(std::size_t index, const base::ByteRange& part) const {
  const auto from = [&part](std::uint64_t data) { return base::ByteRange{data + part.offset, part.length}; };
  if (directory_->proved_data_offset(index) == 0) {
    const std::array ranges = {header(index), from(likely_data_offset(index))};
    memory_->need(ranges);
    prove_read(index);
  }
  memory_->need(from(directory_->proved_data_offset(index)));  // reads only what is missing
}

void EntryRanges::read(std::span<const std::size_t> indices) const {
  std::vector<base::ByteRange> ranges;
  for (const std::size_t index : indices) ranges.push_back(whole(index));
  memory_->need(ranges);
  for (const std::size_t index : indices) prove_read(index);
}

std::uint64_t EntryRanges::data_offset_in(Bytes room, std::size_t index) const {
  if (directory_->proved_data_offset(index) == 0) {
    directory_->prove_regular(room.first(directory_->regular_header_size(index)), index);
    read(index, {});  // does nothing unless the header is irregular
  }
  return directory_->proved_data_offset(index);
}

zip::Directory read_directory(Bytes file, const base::RangedMemory* ranges, const OpenOptions& options,
                              zip::KnownZeros* zeros) {
  try {
    zip::Need need;
    if (ranges != nullptr) need = [ranges](std::span<const base::ByteRange> wanted) { ranges->need(wanted); };
    zip::Directory directory =
        zip::Directory::read(file, {options.max_entries, options.max_directory_size}, need, zeros);
    // In the order of spec/checking.md, steps 41 to 44.
    check_model(directory, options);
    check_reserved_names(directory);
    return directory;
  } catch (const Error& error) {
    throw with_foreign_hint(error, file, ranges);
  }
}

}  // namespace onnxar
