#include "zip/directory_reader.h"

#include <algorithm>

#include "base/checked.h"
#include "zip/format.h"
#include "zip/records.h"

namespace onnxar::zip {

base::ByteRange DirectoryReader::last(std::uint64_t length) const noexcept {
  const std::uint64_t found = std::min(length, size_);
  return {size_ - found, found};
}

/// The length of a local header without more extra fields than archives need, within the entry's room.
std::uint64_t DirectoryReader::usual_length(std::size_t index) const noexcept {
  const DirectoryEntry& entry = directory_.entries()[index];
  const std::uint64_t usual =
      local_file_header_size + entry.name.size() + local_zip64_extra_size + padding_minimum + alignment_minimum;
  return std::min(usual, directory_.limit_of(index) - entry.header_offset);
}

std::vector<base::ByteRange> DirectoryReader::wants() const {
  switch (stage_) {
    case Stage::end: return {last(end_records_maximum)};
    case Stage::faulty_end:
      return {{0, std::min(local_file_header_size, size_)}, last(end_record_size + comment_maximum)};
    case Stage::directory: return {{end_.directory_offset, end_.directory_size}};
    case Stage::headers: {
      std::vector<base::ByteRange> ranges;
      for (const std::size_t index : irregular_) {
        ranges.push_back({directory_.entries()[index].header_offset, usual_length(index)});
        const std::uint64_t limit = directory_.limit_of(index);
        const std::uint64_t tail = std::min(limit, end_records_maximum);
        ranges.push_back({limit - tail, tail});
      }
      return ranges;
    }
    case Stage::long_headers: return long_headers_;
    case Stage::done: break;
  }
  return {};
}

void DirectoryReader::step(Bytes file) {
  switch (stage_) {
    case Stage::end:
    case Stage::faulty_end: return read_end_of(file);
    case Stage::directory: return read_directory(file);
    case Stage::headers: return measure_headers(file);
    case Stage::long_headers: return prove_headers(file);
    case Stage::done: return;
  }
}

void DirectoryReader::read_end_of(Bytes file) {
  const base::ByteRange record = last(end_record_size);
  if (stage_ == Stage::end && !parse_end_record(base::section(file, record.offset))) {
    stage_ = Stage::faulty_end;
    return;
  }
  end_ = read_end(file);
  check_limits(end_, limits_);
  stage_ = Stage::directory;
}

void DirectoryReader::read_directory(Bytes file) {
  directory_.read_at(end_, file);
  for (std::size_t i = 0; i < directory_.entries().size(); ++i) {
    if (directory_.regular_header_size(i) == 0) irregular_.push_back(i);
  }
  stage_ = Stage::headers;
  if (irregular_.empty()) prove_headers(file);
}

void DirectoryReader::measure_headers(Bytes file) {
  for (const std::size_t index : irregular_) {
    const std::uint64_t begin = directory_.entries()[index].header_offset;
    const auto header = parse_local_file_header(base::section(file, begin, local_file_header_size));
    if (!header) continue;  // proving it refuses it
    const std::uint64_t length = local_file_header_size + header->file_name_length + header->extra_field_length;
    if (length <= usual_length(index)) continue;
    // Longer headers are refused by their length alone (L15), and so are those that leave the room.
    long_headers_.push_back({begin, std::min({length, local_header_maximum, directory_.limit_of(index) - begin})});
  }
  stage_ = Stage::long_headers;
  if (long_headers_.empty()) prove_headers(file);
}

void DirectoryReader::prove_headers(Bytes file) {
  directory_.prove_irregular_entries(file, irregular_);
  stage_ = Stage::done;
}

Directory Directory::read(Bytes file, const Limits& limits) {
  DirectoryReader reader(file.size(), limits);
  while (!reader.is_done()) reader.step(file);
  return std::move(reader).take();
}

}  // namespace onnxar::zip
