// Names that are similar to one that was not found.
#include "base/near_names.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

namespace onnxar::testing {
namespace {

using ::testing::IsEmpty;
using ::testing::Not;

std::string near(std::string_view wanted, const std::vector<std::string>& names) {
  base::NearNames near_names(wanted);
  for (const std::string& name : names) near_names.consider(name);
  return near_names.text();
}

TEST(NearNames, ListsTheNearestFirstAndNoneTwice) {
  EXPECT_EQ(near("weight", {"heights", "weigth", "weight1", "weight1", "bias", ""}),
            "; near names: \"weight1\", \"heights\", \"weigth\"");
  EXPECT_EQ(near("bias", {"encoder.bias", "a.bias", "weight"}), "; near names: \"a.bias\", \"encoder.bias\"");
  EXPECT_THAT(near("w", {"completely else"}), IsEmpty());
}

TEST(NearNames, EditsAreFoundAtBothEndsAndInBetween) {
  for (const std::string name : {"bcdefgh", "abcdefg", "abcefgh", "xabcdefgh", "abcdefghx", "abcdxefgh", "abxdefgh"}) {
    EXPECT_EQ(near("abcdefgh", {name}), "; near names: \"" + name + "\"");
  }
  EXPECT_THAT(near("abcdefgh", {"defgh", "hgfedcba"}), IsEmpty());
}

TEST(NearNames, ListsAtMostFive) {
  const std::string five = "; near names: \"abc1\", \"abc2\", \"abc3\", \"abc4\", \"abc5\"";
  EXPECT_EQ(near("abc", {"abc1", "abc2", "abc3", "abc4", "abc5"}), five);
  EXPECT_EQ(near("abc", {"abc1", "abc2", "abc3", "abc4", "abc5", "abc6"}), five);
}

TEST(NearNames, ComparesAtMost256Bytes) {
  const std::string longest(256, 'a');
  EXPECT_THAT(near(longest, {longest.substr(1)}), Not(IsEmpty()));
  EXPECT_THAT(near(longest.substr(1), {longest}), Not(IsEmpty()));
  EXPECT_THAT(near(longest, {longest + "a"}), IsEmpty());
  EXPECT_THAT(near(longest + "a", {longest}), IsEmpty());
}

}  // namespace
}  // namespace onnxar::testing
