// The seam between files in memory and files that are read in ranges.
#include "archive/archive_file.h"

#include <gtest/gtest.h>

#include <vector>

#include "archive/access.h"
#include "base/byte_range.h"
#include "base/ranged_memory.h"
#include "onnxar/archive.h"
#include "support/ranged_blob.h"
#include "support/refusal.h"
#include "support/samples.h"
#include "support/zip_builder.h"

namespace onnxar::testing {
namespace {

class ArchiveFileTest : public ::testing::Test {
 protected:
  Blob bytes_ = pattern(2 * mebibyte);
  std::shared_ptr<RangedBlob> source_ = by_ranges(bytes_);
  base::RangedMemory memory_{source_};
  ArchiveFile here_{Bytes(bytes_)};
  ArchiveFile ranged_{memory_};
};

TEST_F(ArchiveFileTest, ReadsSameBytesFromMemoryAndInRanges) {
  for (const ArchiveFile& file : {here_, ranged_}) {
    const Bytes read = file.read({700'000, 9});
    EXPECT_EQ(Blob(read.begin(), read.end()), Blob(bytes_.begin() + 700'000, bytes_.begin() + 700'009));
    Blob copied(9);
    file.copy(1'500'000, copied);
    EXPECT_EQ(copied, Blob(bytes_.begin() + 1'500'000, bytes_.begin() + 1'500'009));
  }
}

TEST_F(ArchiveFileTest, FetchesARangeOnce) {
  static_cast<void>(ranged_.read({100, 10}));
  static_cast<void>(ranged_.first(4096).read({100, 10}));
  ranged_.prefetch(ranged_.bytes().first(200), Prefetch::populate);
  EXPECT_EQ(source_->calls, 1U);
}

TEST_F(ArchiveFileTest, AdviceFetchesNothing) {
  ranged_.prefetch(ranged_.bytes(), Prefetch::will_need);
  ranged_.prefetch(ranged_.bytes(), Prefetch::none);
  ranged_.prefetch({}, Prefetch::populate);
  EXPECT_EQ(source_->calls, 0U);
}

TEST_F(ArchiveFileTest, FrontOfLargeRangedFileIsShort) {
  EXPECT_EQ(here_.front().size(), bytes_.size());
  EXPECT_EQ(ranged_.front().size(), 4096U);
  EXPECT_EQ(ranged_.first(mebibyte).front().size(), mebibyte);
}

TEST_F(ArchiveFileTest, RangedFileIsReadByOneThread) {
  EXPECT_EQ(here_.threads_for(1U << 30U, 3), 3U);
  EXPECT_EQ(ranged_.threads_for(1U << 30U, 3), 1U);
}

TEST_F(ArchiveFileTest, DirectoryReaderNeedsNothingInMemory) {
  EXPECT_FALSE(here_.needs());
  ranged_.needs()(std::vector<base::ByteRange>{{0, 10}});
  EXPECT_EQ(source_->calls, 1U);
}

TEST(EntryReader, FetchesEntriesInOneCall) {
  const auto file = by_ranges(
      archive_of(model_of({linked_floats("a", 2250, "a")}), {zip_entry("a", pattern(9000)), zip_entry("b", pattern(9))})
          .bytes);
  const Archive archive = Archive::open(file);
  const std::size_t before = file->calls;
  const EntryReader reader = ArchiveAccess::reader(archive);
  const Bytes place = reader.place(0);
  EXPECT_EQ(file->calls, before);
  const std::vector<std::size_t> entries = {0, 1};
  reader.fetch(entries);
  EXPECT_EQ(file->calls, before + 1);
  EXPECT_EQ(reader.read(0, {0, 9000}).data(), place.data());
  EXPECT_EQ(archive.bytes(archive.entry(1)).size(), 9U);
  EXPECT_EQ(file->calls, before + 1);
}

TEST(EntryReader, EntriesInRangesDoNotChange) {
  const auto file = by_ranges(smallest_archive().bytes);
  const Archive archive = Archive::open(file);
  EXPECT_FALSE(ArchiveAccess::reader(archive).may_change(0));
}

}  // namespace
}  // namespace onnxar::testing
