// Words of eight characters, compared with tests of single characters.
#include <gtest/gtest.h>

#include "base/text.h"

namespace onnxar::testing {
namespace {

/// `c` at `place` among seven small letters.
std::uint64_t word_with(unsigned c, unsigned place) {
  const std::uint64_t others = base::every_byte('n') & ~(std::uint64_t{0xff} << (8 * place));
  return others | std::uint64_t{c} << (8 * place);
}

template <typename Check>
void for_each_word(const Check& check) {
  for (unsigned place = 0; place < 8; ++place) {
    for (unsigned c = 0; c < 256; ++c) {
      SCOPED_TRACE(::testing::Message() << "character " << c << " at " << place);
      check(c, place);
    }
  }
}

TEST(AsciiWords, RangesHoldTheirEndsAndNothingBeyondAscii) {
  for_each_word([](unsigned c, unsigned place) {
    const std::uint64_t bit = std::uint64_t{0x80} << (8 * place);
    EXPECT_EQ((base::bytes_between(word_with(c, place), '0', '9') & bit) != 0, c >= '0' && c <= '9');
    EXPECT_EQ((base::bytes_between(word_with(c, place), 0, 0x7f) & bit) != 0, c < 0x80);
  });
}

TEST(AsciiWords, FoldingMakesAsciiCapitalsSmallAndLeavesTheRest) {
  for_each_word([](unsigned c, unsigned place) {
    const unsigned small = c >= 'A' && c <= 'Z' ? c + 0x20 : c;
    EXPECT_EQ(base::folded_word(word_with(c, place)), word_with(small, place));
  });
}

}  // namespace
}  // namespace onnxar::testing
