// Records to bytes and back, against APPNOTE's tables and the builder's bytes.
#include "zip/records.h"

#include <gtest/gtest.h>

#include "support/zip_builder.h"

namespace onnxar::testing {
namespace {

/// A record of `size` bytes whose bytes after the signature all differ, so that a field read at a wrong offset is
/// noticed.
Blob counting_record(std::uint32_t signature, std::size_t size) {
  Blob bytes(size);
  for (std::size_t i = 0; i < size; ++i) bytes[i] = static_cast<std::byte>(i + 1);
  put_u32(bytes, 0, signature);
  return bytes;
}

template <typename Record>
Blob written(const Record& record) {
  std::vector<std::byte> out;
  zip::append_record(out, record);
  return out;
}

TEST(Records, LocalHeaderHasAppnotesFields) {
  const Blob bytes = counting_record(signature::local, 30);
  const auto header = zip::parse_local_file_header(bytes);
  ASSERT_TRUE(header);
  EXPECT_EQ(header->version_needed, u16_at(bytes, 4));
  EXPECT_EQ(header->flags, u16_at(bytes, 6));
  EXPECT_EQ(header->method, u16_at(bytes, 8));
  EXPECT_EQ(header->last_mod_time, u16_at(bytes, 10));
  EXPECT_EQ(header->last_mod_date, u16_at(bytes, 12));
  EXPECT_EQ(header->crc32, u32_at(bytes, 14));
  EXPECT_EQ(header->compressed_size, u32_at(bytes, 18));
  EXPECT_EQ(header->uncompressed_size, u32_at(bytes, 22));
  EXPECT_EQ(header->file_name_length, u16_at(bytes, 26));
  EXPECT_EQ(header->extra_field_length, u16_at(bytes, 28));
  EXPECT_EQ(written(*header), bytes);
}

TEST(Records, CentralHeaderHasAppnotesFields) {
  const Blob bytes = counting_record(signature::central, 46);
  const auto header = zip::parse_central_file_header(bytes);
  ASSERT_TRUE(header);
  EXPECT_EQ(header->version_made_by, u16_at(bytes, 4));
  EXPECT_EQ(header->version_needed, u16_at(bytes, 6));
  EXPECT_EQ(header->flags, u16_at(bytes, 8));
  EXPECT_EQ(header->method, u16_at(bytes, 10));
  EXPECT_EQ(header->last_mod_time, u16_at(bytes, 12));
  EXPECT_EQ(header->last_mod_date, u16_at(bytes, 14));
  EXPECT_EQ(header->crc32, u32_at(bytes, 16));
  EXPECT_EQ(header->compressed_size, u32_at(bytes, 20));
  EXPECT_EQ(header->uncompressed_size, u32_at(bytes, 24));
  EXPECT_EQ(header->file_name_length, u16_at(bytes, 28));
  EXPECT_EQ(header->extra_field_length, u16_at(bytes, 30));
  EXPECT_EQ(header->file_comment_length, u16_at(bytes, 32));
  EXPECT_EQ(header->disk_number_start, u16_at(bytes, 34));
  EXPECT_EQ(header->internal_file_attributes, u16_at(bytes, 36));
  EXPECT_EQ(header->external_file_attributes, u32_at(bytes, 38));
  EXPECT_EQ(header->relative_offset_of_local_header, u32_at(bytes, 42));
  EXPECT_EQ(written(*header), bytes);
}

TEST(Records, EndRecordHasAppnotesFields) {
  const Blob bytes = counting_record(signature::end, 22);
  const auto record = zip::parse_end_record(bytes);
  ASSERT_TRUE(record);
  EXPECT_EQ(record->number_of_this_disk, u16_at(bytes, 4));
  EXPECT_EQ(record->disk_with_directory, u16_at(bytes, 6));
  EXPECT_EQ(record->entries_on_this_disk, u16_at(bytes, 8));
  EXPECT_EQ(record->entries, u16_at(bytes, 10));
  EXPECT_EQ(record->directory_size, u32_at(bytes, 12));
  EXPECT_EQ(record->directory_offset, u32_at(bytes, 16));
  EXPECT_EQ(record->comment_length, u16_at(bytes, 20));
  EXPECT_EQ(written(*record), bytes);
}

TEST(Records, Zip64EndRecordHasAppnotesFields) {
  const Blob bytes = counting_record(signature::zip64_end, 56);
  const auto record = zip::parse_zip64_end_record(bytes);
  ASSERT_TRUE(record);
  EXPECT_EQ(record->size_of_record, u64_at(bytes, 4));
  EXPECT_EQ(record->version_made_by, u16_at(bytes, 12));
  EXPECT_EQ(record->version_needed, u16_at(bytes, 14));
  EXPECT_EQ(record->number_of_this_disk, u32_at(bytes, 16));
  EXPECT_EQ(record->disk_with_directory, u32_at(bytes, 20));
  EXPECT_EQ(record->entries_on_this_disk, u64_at(bytes, 24));
  EXPECT_EQ(record->entries, u64_at(bytes, 32));
  EXPECT_EQ(record->directory_size, u64_at(bytes, 40));
  EXPECT_EQ(record->directory_offset, u64_at(bytes, 48));
  EXPECT_EQ(written(*record), bytes);
}

TEST(Records, LocatorHasAppnotesFields) {
  const Blob bytes = counting_record(signature::zip64_locator, 20);
  const auto locator = zip::parse_zip64_locator(bytes);
  ASSERT_TRUE(locator);
  EXPECT_EQ(locator->disk_with_end_record, u32_at(bytes, 4));
  EXPECT_EQ(locator->offset_of_end_record, u64_at(bytes, 8));
  EXPECT_EQ(locator->number_of_disks, u32_at(bytes, 16));
  EXPECT_EQ(written(*locator), bytes);
}

TEST(Records, BuildersRecordsComeBackAsTheyWere) {
  ZipBuilder builder = smallest_builder();
  builder.force_zip64 = true;
  const Built built = builder.build_placed();
  const Bytes file = built.bytes;
  const auto again = [&file](std::size_t offset, std::size_t size, auto parse) {
    const auto record = parse(file.subspan(offset));
    return record && written(*record) == copy_of(file.subspan(offset, size));
  };
  for (const PlacedEntry& entry : built.entries) {
    EXPECT_TRUE(again(entry.header_offset, 30, zip::parse_local_file_header));
    EXPECT_TRUE(again(entry.central_offset, 46, zip::parse_central_file_header));
  }
  EXPECT_TRUE(again(*built.zip64_end_offset, 56, zip::parse_zip64_end_record));
  EXPECT_TRUE(again(*built.zip64_locator_offset, 20, zip::parse_zip64_locator));
  EXPECT_TRUE(again(built.end_offset, 22, zip::parse_end_record));
}

template <typename Parse>
void expect_whole_and_signed(Parse parse, std::uint32_t signature, std::size_t size) {
  Blob bytes = counting_record(signature, size);
  EXPECT_TRUE(parse(bytes));
  for (std::size_t length = 0; length < size; ++length) EXPECT_FALSE(parse(Bytes(bytes).first(length))) << length;
  for (std::size_t bit = 0; bit < 32; ++bit) {
    flip_bit(bytes, bit / 8, bit % 8);
    EXPECT_FALSE(parse(bytes)) << bit;
    flip_bit(bytes, bit / 8, bit % 8);
  }
}

TEST(Records, RecordsAreReadWholeAndWithTheirSignatureOnly) {
  expect_whole_and_signed(zip::parse_local_file_header, signature::local, 30);
  expect_whole_and_signed(zip::parse_central_file_header, signature::central, 46);
  expect_whole_and_signed(zip::parse_end_record, signature::end, 22);
  expect_whole_and_signed(zip::parse_zip64_end_record, signature::zip64_end, 56);
  expect_whole_and_signed(zip::parse_zip64_locator, signature::zip64_locator, 20);
}

}  // namespace
}  // namespace onnxar::testing
