// Records to bytes and back, against APPNOTE's tables and the builder's bytes.
#include "zip/records.h"

#include <gtest/gtest.h>

#include "support/zip_builder.h"
#include "zip/format.h"

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

/// These numbers, each in as many bytes as it has, the lowest first.
template <typename... Numbers>
Blob bytes_of(Numbers... numbers) {
  Blob out;
  const auto append = [&out](auto number) {
    for (std::size_t i = 0; i < sizeof number; ++i) out.push_back(static_cast<std::byte>(number >> 8U * i));
  };
  (append(numbers), ...);
  return out;
}

/// Expects a record to hold its fields, which follow the signature, and to be written as it was.
template <typename Parse, typename Fields>
void expect_fields(std::uint32_t signature, std::size_t size, const Parse& parse, const Fields& fields_of) {
  const Blob bytes = counting_record(signature, size);
  const auto record = parse(bytes);
  ASSERT_TRUE(record);
  EXPECT_EQ(fields_of(*record), copy_of(Bytes(bytes).subspan(4)));
  EXPECT_EQ(written(*record), bytes);
}

TEST(Records, LocalHeaderHasAppnotesFields) {
  expect_fields(signature::local, 30, zip::parse_local_file_header, [](const auto& r) {
    return bytes_of(r.version_needed, r.flags, r.method, r.last_mod_time, r.last_mod_date, r.crc32, r.compressed_size,
                    r.uncompressed_size, r.file_name_length, r.extra_field_length);
  });
}

TEST(Records, CentralHeaderHasAppnotesFields) {
  expect_fields(signature::central, 46, zip::parse_central_file_header, [](const auto& r) {
    return bytes_of(r.version_made_by, r.version_needed, r.flags, r.method, r.last_mod_time, r.last_mod_date, r.crc32,
                    r.compressed_size, r.uncompressed_size, r.file_name_length, r.extra_field_length,
                    r.file_comment_length, r.disk_number_start, r.internal_file_attributes, r.external_file_attributes,
                    r.relative_offset_of_local_header);
  });
}

TEST(Records, EndRecordHasAppnotesFields) {
  expect_fields(signature::end, 22, zip::parse_end_record, [](const auto& r) {
    return bytes_of(r.number_of_this_disk, r.disk_with_directory, r.entries_on_this_disk, r.entries, r.directory_size,
                    r.directory_offset, r.comment_length);
  });
}

TEST(Records, Zip64EndRecordHasAppnotesFields) {
  expect_fields(signature::zip64_end, 56, zip::parse_zip64_end_record, [](const auto& r) {
    return bytes_of(r.size_of_record, r.version_made_by, r.version_needed, r.number_of_this_disk, r.disk_with_directory,
                    r.entries_on_this_disk, r.entries, r.directory_size, r.directory_offset);
  });
}

TEST(Records, LocatorHasAppnotesFields) {
  expect_fields(signature::zip64_locator, 20, zip::parse_zip64_locator, [](const auto& r) {
    return bytes_of(r.disk_with_end_record, r.offset_of_end_record, r.number_of_disks);
  });
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
