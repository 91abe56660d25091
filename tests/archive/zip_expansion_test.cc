// Tests how many bytes a foreign zip may expand to.
#include "archive/zip_expansion.h"

#include <gtest/gtest.h>

#include <cstdint>

#include "support/refusal.h"

namespace onnxar::testing {
namespace {

zip::ForeignEntry entry_of_size(std::uint64_t size) {
  zip::ForeignEntry entry;
  entry.name = "w";
  entry.size = size;
  entry.central_offset = 70;
  return entry;
}

TEST(ZipExpansion, EntriesAreCountedUpToTheLimit) {
  ZipExpansion expansion(100, 8);
  EXPECT_EQ(expansion.most(), 800U);
  expansion.add(entry_of_size(500));
  expansion.add(entry_of_size(300));
  expansion.add(entry_of_size(0));
  EXPECT_EQ(refusal_of([&] { expansion.add(entry_of_size(1)); }), (ErrorContext{Code::zip_limit_expansion, "w", 70}));
}

TEST(ZipExpansion, TheHintNamesTheLeastLimitThatSuffices) {
  const ZipExpansion expansion(100, 8);
  expansion.check(800);
  const auto hint_of = [&](std::uint64_t bytes) {
    const auto error = error_if_any([&] { expansion.check(bytes); });
    return error ? error->advice().value : "";
  };
  EXPECT_EQ(hint_of(801), "9");
  EXPECT_EQ(hint_of(900), "9");
  EXPECT_EQ(hint_of(901), "10");
}

}  // namespace

}  // namespace onnxar::testing
