// Fetches and proves local headers and data of entries.
#include "archive/entry_reader.h"

#include <array>
#include <vector>

#include "base/byte_range.h"

namespace onnxar {

base::ByteRange EntryReader::whole(std::size_t index) const noexcept {
  const std::uint64_t begin = directory_->entries()[index].header_offset;
  return {begin, directory_->limit_of(index) - begin};
}

bool EntryReader::may_change(std::size_t index) const {
  return file_.is_here() && index >= directory_->first_appended(file_.bytes());
}

/// Returns the range of the local header that the directory suggests; opening already proved the headers for which it
/// suggests none.
base::ByteRange EntryReader::header(std::size_t index) const noexcept {
  return {directory_->entries()[index].header_offset, directory_->regular_header_size(index)};
}

/// REQUIRES: `header(index)` was fetched.
void EntryReader::prove_fetched(std::size_t index) const {
  if (directory_->proved_data_offset(index) != 0) return;
  directory_->prove_regular(file_.read(header(index)), index);
  if (directory_->proved_data_offset(index) != 0) return;
  // The header is longer or shorter, or faulty.
  directory_->need_headers(file_.bytes(), file_.needs(), {&index, 1});
  static_cast<void>(directory_->prove_local(file_.bytes(), index));
}

void EntryReader::fetch_headers() const {
  if (file_.is_here()) return;
  std::vector<base::ByteRange> headers;
  for (std::size_t i = 0; i < directory_->entries().size(); ++i) {
    if (directory_->proved_data_offset(i) == 0) headers.push_back(header(i));
  }
  file_.need(headers);
}

Bytes EntryReader::place(std::size_t index) const {
  const std::uint64_t size = directory_->entries()[index].size;
  return file_.is_here() ? read(index, {0, size})
                         : base::section(file_.bytes(), directory_->likely_data_offset(index), size);
}

Bytes EntryReader::read(std::size_t index, const base::ByteRange& part) const {
  if (!file_.is_here() && directory_->proved_data_offset(index) == 0) {
    const std::array ranges = {header(index),
                               base::ByteRange{directory_->likely_data_offset(index) + part.offset, part.length}};
    file_.need(ranges);
    prove_fetched(index);
  }
  // Fetches only what is missing.
  return file_.read({directory_->data_offset(file_.bytes(), index) + part.offset, part.length});
}

void EntryReader::fetch(std::span<const std::size_t> indices) const {
  if (file_.is_here()) return;
  std::vector<base::ByteRange> ranges;
  for (const std::size_t index : indices) ranges.push_back(whole(index));
  file_.need(ranges);
  for (const std::size_t index : indices) prove_fetched(index);
}

void EntryReader::prefetch(std::span<const std::size_t> indices, Prefetch how) const {
  if (how == Prefetch::populate) fetch(indices);
  if (!file_.is_here()) return;
  for (const std::size_t index : indices) file_.prefetch(place(index), how);
}

std::uint64_t EntryReader::data_offset_in(Bytes room, std::size_t index) const {
  if (directory_->proved_data_offset(index) == 0) {
    directory_->prove_regular(room.first(directory_->regular_header_size(index)), index);
    static_cast<void>(read(index, {}));  // fetches nothing unless the header is irregular
  }
  return directory_->proved_data_offset(index);
}

}  // namespace onnxar
