// Entries are found by their bytes.
#include "convert/entries_by_content.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <string>

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

}  // namespace
}  // namespace onnxar::testing
