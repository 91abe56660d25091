// Tests which parts of data files tensors use.
#include "convert/slice_uses.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/wire_builder.h"

namespace onnxar::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class SliceUsesTest : public ::testing::Test {
 protected:
  std::string add(std::size_t begin, std::size_t size, const std::string& tensor, std::size_t graph = 0) {
    return uses_.add(Bytes(data_).subspan(begin, size), tensor, {tensor, std::nullopt}, graph);
  }

  Blob data_ = pattern(100);
  SliceUses uses_;
};

TEST_F(SliceUsesTest, ReturnsTheFirstTensorOfASharedSlice) {
  EXPECT_EQ(add(0, 10, "a"), "");
  EXPECT_EQ(add(0, 10, "b"), "a");
  EXPECT_EQ(add(10, 10, "c"), "");
  EXPECT_THAT(uses_.overlaps(), IsEmpty());
}

TEST_F(SliceUsesTest, GraphsMayShareASlice) {
  EXPECT_EQ(add(0, 10, "a", 0), "");
  EXPECT_EQ(add(0, 10, "b", 1), "");
  EXPECT_EQ(add(0, 10, "c", 1), "b");
}

TEST_F(SliceUsesTest, EmptySlicesShareNothing) {
  EXPECT_EQ(add(5, 0, "a"), "");
  EXPECT_EQ(add(5, 0, "b"), "");
  add(0, 10, "c");
  EXPECT_THAT(uses_.overlaps(), IsEmpty());
}

TEST_F(SliceUsesTest, ReportsEachSliceThatBeginsInAnEarlierOne) {
  add(0, 50, "long");
  add(10, 5, "within");
  add(40, 20, "across");  // `long` reaches farther than its neighbour `within`
  add(60, 10, "after");
  const std::vector<Finding> found = uses_.overlaps();
  ASSERT_THAT(found, SizeIs(2));
  EXPECT_THAT(found[0].message, HasSubstr("within: its data overlaps that of long"));
  EXPECT_THAT(found[1].message, HasSubstr("across: its data overlaps that of long"));
  EXPECT_EQ(found[1].place.entry, "across");
}

}  // namespace
}  // namespace onnxar::testing
