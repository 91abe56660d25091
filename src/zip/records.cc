// Reads and writes the records of zip files field by field.
#include "zip/records.h"

#include <algorithm>
#include <array>

#include "base/little_endian.h"
#include "zip/format.h"

namespace onnxar::zip {
namespace {

// Each record lists its fields once, in file order. Reading and writing walk the same list, so that they cannot differ.

template <typename Visitor>
void visit_fields(EntryHeader& header, Visitor& visit) {
  visit(header.version_needed);
  visit(header.flags);
  visit(header.method);
  visit(header.last_mod_time);
  visit(header.last_mod_date);
  visit(header.crc32);
  visit(header.compressed_size);
  visit(header.uncompressed_size);
  visit(header.file_name_length);
  visit(header.extra_field_length);
}

template <typename Visitor>
void visit_fields(CentralFileHeader& header, Visitor& visit) {
  visit(header.version_made_by);
  visit_fields(static_cast<EntryHeader&>(header), visit);
  visit(header.file_comment_length);
  visit(header.disk_number_start);
  visit(header.internal_file_attributes);
  visit(header.external_file_attributes);
  visit(header.relative_offset_of_local_header);
}

/// The values that both end records state about the directory, in fields of different widths.
template <typename Record, typename Visitor>
void visit_directory_fields(Record& record, Visitor& visit) {
  visit(record.number_of_this_disk);
  visit(record.disk_with_directory);
  visit(record.entries_on_this_disk);
  visit(record.entries);
  visit(record.directory_size);
  visit(record.directory_offset);
}

template <typename Visitor>
void visit_fields(EndRecord& record, Visitor& visit) {
  visit_directory_fields(record, visit);
  visit(record.comment_length);
}

template <typename Visitor>
void visit_fields(Zip64EndRecord& record, Visitor& visit) {
  visit(record.size_of_record);
  visit(record.version_made_by);
  visit(record.version_needed);
  visit_directory_fields(record, visit);
}

template <typename Visitor>
void visit_fields(Zip64Locator& locator, Visitor& visit) {
  visit(locator.disk_with_end_record);
  visit(locator.offset_of_end_record);
  visit(locator.number_of_disks);
}

template <typename Record>
std::optional<Record> parse(Bytes bytes, std::uint32_t signature, std::uint64_t size) noexcept {
  std::optional<Record> record;  // returned without a copy, which would wait for each of the narrow stores
  if (bytes.size() < size || base::load<std::uint32_t>(bytes, 0) != signature) return record;
  record.emplace();
  std::size_t position = sizeof signature;
  auto read = [&]<typename T>(T& field) {
    field = base::load<T>(bytes, position);
    position += sizeof(T);
  };
  visit_fields(*record, read);
  return record;
}

void append_fields(std::vector<std::byte>& out, std::uint32_t signature, std::size_t size, auto record) {
  std::size_t position = out.size();
  out.resize(position + size);  // one insertion for all fields
  auto write = [&](const auto& field) {
    base::store(out, position, field);
    position += sizeof field;
  };
  write(signature);
  visit_fields(record, write);
}

}  // namespace

std::optional<LocalFileHeader> parse_local_file_header(Bytes bytes) noexcept {
  return parse<LocalFileHeader>(bytes, local_file_signature, local_file_header_size);
}
std::optional<CentralFileHeader> parse_central_file_header(Bytes bytes) noexcept {
  return parse<CentralFileHeader>(bytes, central_file_signature, central_file_header_size);
}
std::optional<EndRecord> parse_end_record(Bytes bytes) noexcept {
  return parse<EndRecord>(bytes, end_signature, end_record_size);
}
std::optional<Zip64EndRecord> parse_zip64_end_record(Bytes bytes) noexcept {
  return parse<Zip64EndRecord>(bytes, zip64_end_signature, zip64_end_record_size);
}
std::optional<Zip64Locator> parse_zip64_locator(Bytes bytes) noexcept {
  return parse<Zip64Locator>(bytes, zip64_locator_signature, zip64_locator_size);
}

void append_record(std::vector<std::byte>& out, const LocalFileHeader& header) {
  append_fields(out, local_file_signature, local_file_header_size, header);
}
void append_record(std::vector<std::byte>& out, const CentralFileHeader& header) {
  append_fields(out, central_file_signature, central_file_header_size, header);
}
void append_record(std::vector<std::byte>& out, const EndRecord& record) {
  append_fields(out, end_signature, end_record_size, record);
}
void append_record(std::vector<std::byte>& out, const Zip64EndRecord& record) {
  append_fields(out, zip64_end_signature, zip64_end_record_size, record);
}
void append_record(std::vector<std::byte>& out, const Zip64Locator& locator) {
  append_fields(out, zip64_locator_signature, zip64_locator_size, locator);
}

bool begins_with_record(Bytes bytes) noexcept {
  if (bytes.size() < sizeof local_file_signature) return false;
  const auto found = base::load<std::uint32_t>(bytes, 0);
  // Split zips begin with the signature of a descriptor (APPNOTE 8.5.3).
  constexpr std::array signatures = {local_file_signature,    central_file_signature, zip64_end_signature,
                                     zip64_locator_signature, end_signature,          descriptor_signature};
  return std::ranges::find(signatures, found) != signatures.end();
}

}  // namespace onnxar::zip
