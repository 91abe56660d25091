// How many bytes a foreign zip may expand to.
#include <gtest/gtest.h>

#include "archive/foreign_zip.h"
#include "support/refusal.h"
#include "support/zip_builder.h"

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

TEST(RoomToInflate, IsTheStatedSizesButNotMoreThanTheLimit) {
  ZipBuilder builder = smallest_builder();
  builder.entries.insert(builder.entries.begin(),
                         {plain_entry(deflated_entry("x", zeros(5000))), plain_entry(deflated_entry("y", zeros(300)))});
  const Blob bytes = builder.build();
  const auto directory = zip::ForeignDirectory::read(bytes, {});
  const auto all = [](const zip::ForeignEntry&) { return true; };
  const auto only = [](std::string_view name) {
    return [name](const zip::ForeignEntry& entry) { return entry.name == name; };
  };
  EXPECT_EQ(room_to_inflate(directory, {bytes.size(), 1000}, all), 5300U + 2 * 64);
  EXPECT_EQ(room_to_inflate(directory, {bytes.size(), 1000}, only("y")), 300U + 64);
  EXPECT_EQ(room_to_inflate(directory, {bytes.size(), 1000}, only("w")), 0U) << "it is stored";
  EXPECT_EQ(room_to_inflate(directory, {bytes.size(), 1000}, only("none")), 0U);
  EXPECT_EQ(room_to_inflate(directory, {100, 1}, all), 100U + 2 * 64);
}

}  // namespace
}  // namespace onnxar::testing
