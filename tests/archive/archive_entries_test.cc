// Entries as a range, copies of entries that are verified, and files that are archives.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <ranges>
#include <string>
#include <vector>

#include "archive/opened.h"
#include "onnxar/archive.h"
#include "support/refusal.h"
#include "support/temp_dir.h"
#include "support/zip_builder.h"

namespace onnxar::testing {
namespace {

using ::testing::ElementsAre;

using Entries = decltype(std::declval<const Archive&>().entries());
static_assert(std::ranges::random_access_range<Entries> && std::ranges::sized_range<Entries>);
static_assert(std::ranges::view<Entries> && std::ranges::borrowed_range<Entries> && std::ranges::common_range<Entries>);
static_assert(std::same_as<std::ranges::range_value_t<Entries>, ArchiveEntry>);

Built three_entries() {
  return built_with({zip_entry("b", pattern(10)), zip_entry("a", pattern(300)), zip_entry("c", {})});
}

TEST(Entries, RangeForVisitsThemInTheOrderOfTheFile) {
  const Built built = three_entries();
  const Archive archive = opened(built.bytes);
  std::vector<std::string> names;
  for (const ArchiveEntry& entry : archive.entries()) {
    EXPECT_EQ(entry.index, names.size());
    EXPECT_EQ(archive.bytes(entry).size(), entry.size);
    names.emplace_back(entry.name);
  }
  EXPECT_THAT(names, ElementsAre("b", "a", "c", model_entry));
}

TEST(Entries, AlgorithmsTakeThem) {
  const Built built = three_entries();
  const Archive archive = opened(built.bytes);
  const auto entries = archive.entries();
  const auto largest = std::ranges::max_element(entries, {}, &ArchiveEntry::size);
  EXPECT_EQ((*largest).name, "a");
  std::vector<std::size_t> backwards;
  for (const ArchiveEntry& entry : entries | std::views::reverse) backwards.push_back(entry.index);
  EXPECT_THAT(backwards, ElementsAre(3, 2, 1, 0));
}

TEST(Entries, IteratorsGoAnyDistanceInOneStep) {
  const Built built = three_entries();
  const Archive archive = opened(built.bytes);
  const auto entries = archive.entries();
  EXPECT_EQ(entries.size(), 4U);
  EXPECT_EQ(entries[1].name, "a");
  EXPECT_EQ(entries.front().name, "b");
  EXPECT_EQ(entries.back().name, model_entry);
  auto at = entries.begin();
  EXPECT_EQ(at[3].name, model_entry);
  EXPECT_EQ((*(2 + at)).name, "c");
  EXPECT_EQ((*at++).name, "b");
  EXPECT_EQ((*at--).name, "a");
  EXPECT_EQ(at, entries.begin());
  EXPECT_LT(at, entries.end());
  EXPECT_EQ(entries.end() - at, 4);
  EXPECT_EQ((*(entries.end() - 2)).name, "c");
}

TEST(ReadEntry, FillsTheCallersBuffer) {
  const Archive archive = opened(three_entries().bytes);
  Blob buffer(300);
  read_entry(archive, *archive.find("a"), buffer);
  EXPECT_EQ(buffer, pattern(300));
  read_entry(archive, *archive.find("c"), {});
}

TEST(ReadEntry, ABufferOfAnotherSizeIsRefused) {
  const Archive archive = opened(three_entries().bytes);
  for (const std::size_t size : {0U, 299U, 301U}) {
    Blob buffer(size);
    expect_error(error_if_any([&] { read_entry(archive, *archive.find("a"), buffer); }),
                 {.code = Code::usage_argument, .entry = "a", .says = {"300 bytes"}});
  }
}

TEST(Cat, HandsOutOneEntryOfAFile) {
  const TempDir folder;
  const auto path = folder.write_file("a.onnxar", three_entries().bytes);
  Blob found;
  cat(path, "a", [&](Bytes piece) { found.insert(found.end(), piece.begin(), piece.end()); });
  EXPECT_EQ(found, pattern(300));
  EXPECT_EQ(refusal_of([&] { cat(path, "A", [](Bytes) {}); }), (ErrorContext{Code::usage_no_such_entry, "A"}));
  EXPECT_EQ(code_of([&] { cat(path, "a", ByteSink()); }), Code::usage_argument);
  EXPECT_EQ(code_of([&] { cat(folder / "none", "a", ByteSink()); }), Code::usage_argument) << "before anything is read";
}

TEST(IsArchive, OnlyFilesThatOpenAreArchives) {
  const TempDir folder;
  const Built built = three_entries();
  EXPECT_TRUE(is_archive(folder.write_file("weights.jpg", built.bytes)));
  EXPECT_FALSE(is_archive(folder.write_file("m.onnxar", smallest_model())));
  EXPECT_FALSE(is_archive(folder.write_file("empty", Blob())));
  EXPECT_FALSE(is_archive(folder.write_file("cut", Bytes(built.bytes).first(built.bytes.size() - 1))));
  ZipBuilder plain;
  plain.entries = {zip_entry("readme.txt", pattern(5))};
  EXPECT_FALSE(is_archive(folder.write_file("plain.zip", plain.build())));
  EXPECT_EQ(code_of([&] { return is_archive(folder / "none"); }), Code::io_not_found);
}

}  // namespace
}  // namespace onnxar::testing
