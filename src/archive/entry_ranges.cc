#include "archive/entry_ranges.h"

#include <algorithm>
#include <array>
#include <vector>

#include "base/checked.h"
#include "zip/format.h"

namespace onnxar {

std::uint64_t EntryRanges::likely_data_offset(std::size_t index) const noexcept {
  const bool is_regular = directory_->regular_header_size(index) != 0;
  return is_regular ? directory_->limit_of(index) - directory_->entries()[index].size
                    : directory_->proved_data_offset(index);  // opening proved it
}

base::ByteRange EntryRanges::whole(std::size_t index) const noexcept {
  const std::uint64_t begin = directory_->entries()[index].header_offset;
  return {begin, directory_->limit_of(index) - begin};
}

/// The local header as the directory suggests it. Opening proved the headers for which it suggests none.
base::ByteRange EntryRanges::header(std::size_t index) const noexcept {
  return {directory_->entries()[index].header_offset, directory_->regular_header_size(index)};
}

/// The end records of a superseded state, if there is one after the data.
base::ByteRange EntryRanges::tail(std::size_t index) const noexcept {
  const std::uint64_t limit = directory_->limit_of(index);
  const std::uint64_t length = std::min(limit, zip::end_records_maximum);
  return {limit - length, length};
}

void EntryRanges::read_header(std::size_t index) const {
  const std::uint64_t begin = directory_->entries()[index].header_offset;
  const std::uint64_t data = directory_->proved_data_offset(index);
  const bool tail_follows = data + directory_->entries()[index].size != directory_->limit_of(index);
  const std::array ranges = {base::ByteRange{begin, data - begin}, tail_follows ? tail(index) : base::ByteRange{}};
  memory_->need(ranges);
}

void EntryRanges::prove(std::size_t index) const {
  if (directory_->proved_data_offset(index) != 0) return;
  memory_->need(header(index));
  prove_read(index);
}

/// REQUIRES: `header(index)` was read.
void EntryRanges::prove_read(std::size_t index) const {
  if (directory_->proved_data_offset(index) != 0) return;
  const base::ByteRange regular = header(index);
  directory_->prove_regular(base::section(memory_->bytes(), regular.offset, regular.length), index);
  if (directory_->proved_data_offset(index) != 0) return;
  // The header is longer or shorter, or faulty: all that proving it can read.
  const base::ByteRange room = whole(index);
  const std::array ranges = {base::ByteRange{room.offset, std::min(room.length, zip::local_header_maximum)},
                             tail(index)};
  memory_->need(ranges);
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
    prove(index);  // has nothing to do, unless the header is irregular
  }
  return directory_->proved_data_offset(index);
}

}  // namespace onnxar
