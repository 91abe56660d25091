// Entries are found by their bytes.
#include "convert/entries_by_content.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "onnxar/archive.h"
#include "support/samples.h"
#include "support/sources.h"

namespace onnxar::testing {
namespace {

class EntriesByContentTest : public ::testing::Test {
 protected:
  EntriesByContentTest() {
    for (std::size_t i = 0; i < archive_.size(); ++i) entries_.add(archive_.entry(i));
  }
  [[nodiscard]] std::string name_of(const ByteSource& source) const {
    const auto entry = entries_.find(source);
    return entry ? std::string(entry->name) : "";
  }

  Built built_ = archive_of(model_of({linked_floats("a", 25, "a"), linked_floats("b", 25, "b")}),
                            {zip_entry("a", pattern(100, 1)), zip_entry("b", pattern(100, 2))});
  Archive archive_ = Archive::open(built_.bytes, nullptr);
  EntriesByContent entries_{archive_};
};

TEST_F(EntriesByContentTest, AnEntryWithTheSameBytesIsFound) {
  EXPECT_EQ(name_of(CountedSource(pattern(100, 2))), "b");
  EXPECT_EQ(name_of(CountedSource(pattern(100, 1))), "a");
  EXPECT_EQ(name_of(CountedSource(pattern(100, 3))), "");
}

TEST_F(EntriesByContentTest, DataOfASizeThatNoEntryHasIsNotRead) {
  const CountedSource source(pattern(99));
  EXPECT_EQ(name_of(source), "");
  EXPECT_EQ(source.reads, 0);
}

TEST_F(EntriesByContentTest, DataIsReadOnceMoreOnlyIfTheCrcIsThatOfAnEntry) {
  const CountedSource other(pattern(100, 3)), equal(pattern(100, 1));
  static_cast<void>(name_of(other));
  static_cast<void>(name_of(equal));
  EXPECT_EQ(other.reads, 1);
  EXPECT_EQ(equal.reads, 2);
}

/// True if data is found in the entry of this number. The headers of all entries state its size and its CRC-32.
bool is_found_among_equal_crcs(std::uint32_t number) {
  const Blob data = pattern(100, number);
  std::vector<ZipEntry> same;
  for (std::uint32_t i = 0; i < 5; ++i) {
    same.push_back(zip_entry("e" + std::to_string(i), pattern(100, i)));
    same.back().in_both([&data](auto& header) { header.crc = bitwise_crc32(data); });
  }
  const Built built = archive_of(model_of({}), same);
  const Archive archive = Archive::open(built.bytes, nullptr);
  EntriesByContent entries(archive);
  for (const ArchiveEntry& entry : archive.entries()) entries.add(entry);
  return entries.find(SpanSource(data)).has_value();
}

TEST(EntriesByContent, ComparesFourEntriesOfOneCrcAndNoFurtherOnes) {
  EXPECT_TRUE(is_found_among_equal_crcs(3));
  EXPECT_FALSE(is_found_among_equal_crcs(4));
}

}  // namespace
}  // namespace onnxar::testing
