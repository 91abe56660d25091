// Whole files: cut, lengthened, edited, and with a bit flipped anywhere.
#include <gtest/gtest.h>

#include "zip/directory.h"
#include "zip/reading.h"

namespace onnxar::testing {
namespace {

Built edited_once() { return append_edit(smallest_archive(), smallest_model(256, "edited")); }

TEST(Truncation, ArchiveCutAtAnyByteIsRefused) {
  for (const bool zip64 : {false, true}) {
    const Built built = changed_archive([=](ZipBuilder& b) { b.force_zip64 = zip64; });
    for (std::size_t size = 0; size < built.bytes.size(); ++size) {
      ASSERT_TRUE(refusal_of_directory(part(built.bytes, 0, size))) << zip64 << ' ' << size;
    }
  }
}

TEST(Truncation, EditedArchiveIsWholeAtTheEndOfEachStateOnly) {
  const Built first = smallest_archive();
  const Built second = append_edit(first, smallest_model(256, "edited"), {zip_entry("b", pattern(100))});
  for (std::size_t size = 0; size <= second.bytes.size(); ++size) {
    const Blob bytes = part(second.bytes, 0, size);
    const bool whole = size == first.bytes.size() || size == second.bytes.size();
    ASSERT_EQ(!refusal_of_directory(bytes), whole) << size;
  }
}

TEST(Appending, AnyBytesAfterTheEndAreRefused) {
  const Blob archive = smallest_archive().bytes;
  for (std::size_t size = 1; size <= 64; ++size) {
    for (const Blob& more :
         {Blob(size), pattern(size, 5), part(archive, 0, 64), part(archive, archive.size() - size, archive.size())}) {
      ASSERT_TRUE(refusal_of_directory(joined(archive, more))) << size;
    }
  }
}

/// Version needed 10 with this bit flipped is still from 10 to 45.
bool is_free_version_bit(unsigned bit) { return (10U ^ (1U << bit)) >= 10 && (10U ^ (1U << bit)) <= 45; }

// What made the file, its attributes, versions and the flag for UTF-8 may be anything; a bit anywhere else outside the
// data is seen.
TEST(FlippedBits, AreSeenEverywhereButInTheDataAndTheFreeFields) {
  const Built built = smallest_archive();
  std::vector<bool> aside(built.bytes.size());     // data, and fields of which some bits are free
  std::vector<bool> free(8 * built.bytes.size());  // bits
  for (const PlacedEntry& entry : built.entries) {
    for (std::size_t i = 0; i < entry.data_size; ++i) aside[entry.data_offset + i] = true;
    for (const std::size_t field : {4U, 5U, 38U, 39U, 40U, 41U}) aside[entry.central_offset + field] = true;
    free[8 * (entry.central_offset + 36)] = true;  // the internal attribute for text
    for (const std::size_t version : {entry.header_offset + 4, entry.central_offset + 6}) {
      for (unsigned bit = 0; bit < 8; ++bit) free[8 * version + bit] = is_free_version_bit(bit);
      free[8 * (version + 2) + 11] = true;  // the flag for UTF-8
    }
  }
  for (std::size_t bit = 0; bit < free.size(); ++bit) {
    if (aside[bit / 8]) continue;
    Blob bytes = built.bytes;
    flip_bit(bytes, bit / 8, static_cast<unsigned>(bit % 8));
    EXPECT_EQ(refusal_of_archive(bytes).has_value(), !free[bit]) << bit / 8 << " bit " << bit % 8;
  }
}

TEST(SupersededTail, HasItsDirectoryRightBeforeItsEndRecord) {
  const Built first = smallest_archive();
  const Built second = edited_once();
  const PlacedEntry& w = second.entry("w");
  for (const std::size_t field : {first.end_offset + 12, first.end_offset + 16}) {
    Blob bytes = second.bytes;
    put_u32(bytes, field, u32_at(bytes, field) + 1);
    EXPECT_EQ(refusal_of_directory(bytes), (ErrorContext{Code::zip_entry_gap, "w", w.data_offset + w.data_size}));
  }
}

TEST(SupersededTail, LocalHeaderBeforeItIsProvedAtOnce) {
  Built second = edited_once();
  flip_bit(second.bytes, second.entry("w").header_offset + 10);
  EXPECT_EQ(refusal_of_directory(second.bytes), (ErrorContext{Code::zip_local_field, "w", 0}));
}

}  // namespace
}  // namespace onnxar::testing
