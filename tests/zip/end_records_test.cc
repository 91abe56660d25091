// The end of an archive: what it tells, and its limits. The vectors of spec/vectors show each refusal.
#include "zip/end_records.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "base/mapped_file.h"
#include "support/temp_dir.h"
#include "zip/reading.h"

namespace onnxar::testing {
namespace {

std::optional<ErrorContext> refusal_of_end(const Blob& bytes) {
  const GuardedBuffer file = guarded_zip(bytes);
  return refusal_of([&] { return zip::read_end(file.bytes()).entries; });
}

/// The smallest archive with zip64 end records, with one change.
template <typename Change>
Built changed_zip64(const Change& change) {
  return changed_archive([&](ZipBuilder& builder) {
    builder.force_zip64 = true;
    change(builder);
  });
}

TEST(EndRecords, LocateTheDirectory) {
  const Built built = smallest_archive();
  const zip::EndOfArchive end = zip::read_end(built.bytes);
  EXPECT_EQ(end.entries, 2U);
  EXPECT_EQ(end.directory_offset, built.directory_offset);
  EXPECT_EQ(end.directory_size, built.directory_size);
  EXPECT_EQ(end.directory_end(), built.end_offset);
  EXPECT_FALSE(end.zip64);
  EXPECT_FALSE(end.unneeded_zip64);
}

TEST(EndRecords, Zip64RecordsThatAgreeAreReadAndRemarked) {
  const Built built = changed_zip64([](ZipBuilder&) {});
  const zip::EndOfArchive end = zip::read_end(built.bytes);
  EXPECT_EQ(end.entries, 2U);
  EXPECT_EQ(end.directory_end(), built.zip64_end_offset);
  EXPECT_TRUE(end.zip64);
  EXPECT_TRUE(end.unneeded_zip64);
}

// The locator begins at 0 or 55, so the offset 56 bytes before it would wrap.
TEST(EndRecords, LocatorWithoutRoomForARecordIsRefused) {
  struct Case {
    std::size_t locator;
    std::uint64_t record;
  };
  for (const auto& [locator, record] : {Case{0, 0}, Case{0, std::uint64_t{0} - 56}, Case{55, std::uint64_t{0} - 1}}) {
    ZipBuilder builder;
    builder.prefix = Blob(locator);
    builder.write_zip64_locator = true;
    builder.zip64_locator.record_offset = record;
    EXPECT_EQ(refusal_of_end(builder.build()), (ErrorContext{Code::zip_zip64_locator, "", locator}));
  }
}

TEST(EndRecords, MissingZip64RecordHasAnErrorOfItsOwn) {
  const Blob bytes = changed_zip64([](ZipBuilder& b) { b.zip64_end.signature = 0x06064b51U; }).bytes;
  EXPECT_EQ(error_if_any([&] { return zip::read_end(bytes).entries; }).value().message(),
            "no zip64 end record where the locator points");
}

TEST(EndRecords, Zip64IsNeededFrom65535EntriesOn) {
  const auto unneeded = [](std::uint64_t entries) {
    const Built built =
        changed_zip64([=](ZipBuilder& b) { b.zip64_end.entries = b.zip64_end.entries_on_disk = entries; });
    return zip::read_end(built.bytes).unneeded_zip64;
  };
  EXPECT_TRUE(unneeded(65534));
  EXPECT_FALSE(unneeded(65535));
  EXPECT_FALSE(unneeded(65536));
}

/// Whether a directory of this offset and size has zip64 end records without need. The file's bytes before its end
/// records are a hole, which is mapped and never touched.
bool has_unneeded_zip64(std::uint64_t offset, std::uint64_t size) {
  const Built built = changed_zip64([](ZipBuilder&) {});
  Blob records(built.bytes.end() - 98, built.bytes.end());
  put_u64(records, 40, size);
  put_u64(records, 48, offset);
  put_u64(records, 56 + 8, offset + size);
  const std::size_t length = offset + size + records.size();
  const TempDir folder;
  const std::filesystem::path path = folder.write_file("a", "");
  std::filesystem::resize_file(path, length - records.size());
  std::ofstream(path, std::ios::binary | std::ios::app)
      .write(reinterpret_cast<const char*>(records.data()), static_cast<std::streamsize>(records.size()));
  const base::MappedFile file = base::MappedFile::open(path);
  EXPECT_EQ(file.bytes().size(), length);
  return zip::read_end(file.bytes()).unneeded_zip64;
}

TEST(EndRecords, Zip64IsNeededForLargeOrFarDirectory) {
  if (sizeof(std::size_t) < sizeof(std::uint64_t)) GTEST_SKIP() << "a file of 4 GiB does not fit in memory";
  EXPECT_TRUE(has_unneeded_zip64(sentinel - 1, 100));
  EXPECT_FALSE(has_unneeded_zip64(sentinel, 100));
  EXPECT_FALSE(has_unneeded_zip64(sentinel + 1, 100));
  EXPECT_TRUE(has_unneeded_zip64(100, sentinel - 1));
  EXPECT_FALSE(has_unneeded_zip64(100, sentinel));
  EXPECT_FALSE(has_unneeded_zip64(100, sentinel + 1));
}

TEST(EndRecords, DefaultLimitsAreThoseOfTheHeader) {
  EXPECT_EQ(zip::Limits{}.entries, 1048576U);
  EXPECT_EQ(zip::Limits{}.directory_size, 268435456U);
}

}  // namespace
}  // namespace onnxar::testing
