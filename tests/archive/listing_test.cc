// A listing has every entry of an archive, and accounts for every byte of the file.
#include "onnxar/listing.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "archive/front_end.h"
#include "archive/opened.h"
#include "archive/stretched.h"
#include "support/ranged_blob.h"
#include "support/samples.h"

namespace onnxar::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class ListingTest : public ::testing::Test {
 protected:
  [[nodiscard]] Listing listed(const Built& archive) const { return ls(folder_.write_file("a.onnxar", archive.bytes)); }

  TempDir folder_;
};

void expect_placed(const ListedEntry& entry, const Built& archive) {
  const PlacedEntry& placed = archive.entry(entry.name);
  EXPECT_EQ(entry.offset, placed.data_offset) << entry.name;
  EXPECT_EQ(entry.size, placed.data_size) << entry.name;
  EXPECT_EQ(entry.crc32, bitwise_crc32(archive.data_of(entry.name))) << entry.name;
}

TEST_F(ListingTest, ListsEveryEntryInTheOrderOfTheFile) {
  const Built archive = archive_of(model_of({linked_floats("w", 256, "w")}),
                                   {zip_entry("w", pattern(1024)), zip_entry("LICENSE.txt", blob("free"))});
  const Listing listing = listed(archive);
  EXPECT_EQ(listing.file_size, archive.bytes.size());
  ASSERT_EQ(listing.entries.size(), 2U);
  EXPECT_EQ(listing.entries[0].name, "w");
  EXPECT_EQ(listing.entries[1].name, "LICENSE.txt");
  EXPECT_EQ(listing.model.name, "__MODEL_PROTO");
  expect_placed(listing.entries[0], archive);
  expect_placed(listing.entries[1], archive);
  expect_placed(listing.model, archive);
  EXPECT_EQ(listing.unused_bytes, 0U);
}

TEST_F(ListingTest, TheFirstEntryMayBeOfAnyKind) {
  const Message proto = model_of({floats("inside", 1)});
  EXPECT_EQ(listed(archive_of(proto, {zip_entry("a.txt", blob("x"))})).entries.at(0).kind, EntryKind::side_file);
  EXPECT_EQ(listed(archive_of(proto, {zip_entry("a", blob("x"))})).entries.at(0).kind, EntryKind::unused);
}

TEST_F(ListingTest, CountsTheZip64FieldOfALargeEntryAsNoPadding) {
  if (sizeof(std::size_t) < sizeof(std::uint64_t)) GTEST_SKIP() << "a file of 4 GiB does not fit in memory";
  for (const std::uint64_t size : {sentinel - 63, sentinel + 1}) {
    const ListedEntry w = ls(stretched(folder_, smallest_builder(), "w", size)).entries.at(0);
    EXPECT_EQ(w.size, size);
    EXPECT_EQ(w.padding, w.offset - 30 - 1 - (size > sentinel ? 20 : 0));  // header, name, sizes
  }
}

TEST_F(ListingTest, ListsTensorsAtTheEntryThatHoldsThem) {
  const Message t = tensor("first", dtype::float16, {2, 3}).external("k", 0, 12);
  const Message proto =
      model({.graph = graph({.nodes = {constant("y", linked_floats("second", 4, "k", 16))},
                             .initializers = {t, linked_floats("other", 1, "o"), floats("inside", 1)}})});
  const Listing listing = listed(
      archive_of(proto, {zip_entry("k", pattern(64)), zip_entry("o", pattern(4)), zip_entry("side.txt", blob("x"))}));
  const std::vector<TensorInfo>& in_k = listing.entries.at(0).tensors;
  ASSERT_EQ(in_k.size(), 2U);
  EXPECT_EQ(in_k[0].name, "second");
  EXPECT_EQ(in_k[0].site, "graph.node[0].attr.value");
  EXPECT_EQ(in_k[1].name, "first");
  EXPECT_EQ(in_k[1].type, DataType::float16);
  EXPECT_THAT(in_k[1].dims, ElementsAre(2, 3));
  EXPECT_EQ(in_k[1].site, "graph.initializer[0]");
  EXPECT_EQ(listing.entries.at(1).tensors.size(), 1U);
  EXPECT_THAT(listing.entries.at(2).tensors, IsEmpty());
  EXPECT_THAT(listing.model.tensors, IsEmpty());
}

TEST_F(ListingTest, ArchiveWithoutWeightsHasNoOtherEntries) {
  const Listing listing = listed(archive_of(model_of({floats("w", 3)})));
  EXPECT_THAT(listing.entries, IsEmpty());
  EXPECT_GT(listing.model.size, 0U);
}

TEST_F(ListingTest, PaddingIsWhatAlignsTheDataAndNoZip64Field) {
  for (const bool zip64 : {false, true}) {
    ZipBuilder builder = smallest_builder();
    builder.entry("w").force_zip64_sizes = zip64;
    Built archive = builder.build_placed();
    std::uint64_t padding = 0;
    for (const PlacedEntry& entry : archive.entries) padding += entry.data_offset - entry.padding_offset;
    flip_bit(archive.bytes, archive.entry("w").data_offset);  // damaged data is listed all the same
    EXPECT_EQ(listed(archive).padding_bytes, padding);
  }
}

TEST_F(ListingTest, TheAlignmentIsTheSmallestRecorded) {
  ZipBuilder builder = smallest_builder();
  builder.alignment = 4096;
  EXPECT_EQ(listed(builder.build_placed()).alignment, 4096U);
  builder.entry("w").alignment = 256U;
  const Listing listing = listed(builder.build_placed());
  EXPECT_EQ(listing.alignment, 256U);
  EXPECT_EQ(listing.entries.at(0).alignment, 256U);
  EXPECT_EQ(listing.model.alignment, 4096U);
}

TEST_F(ListingTest, NoAlignmentIsKnownOfArchiveReadInRanges) {
  const Listing listing = ls(Archive::open(by_ranges(smallest_archive().bytes)));
  EXPECT_EQ(listing.alignment, 0U);
  EXPECT_EQ(listing.entries.at(0).alignment, 0U);
  EXPECT_EQ(listing.entries.at(0).offset, smallest_archive().entry("w").data_offset);
}

TEST_F(ListingTest, EarlierStatesAreCountedAsUnused) {
  const Built first = smallest_archive();
  const Built second = append_edit(first, smallest_model(256, "edited"));
  const Listing listing = listed(second);
  EXPECT_EQ(listing.unused_bytes, first.bytes.size() - first.entry("w").data_offset - 1024);
  expect_placed(listing.entries.at(0), first);
  // Two entries have this name. The second one counts.
  EXPECT_EQ(listing.model.offset, second.entries.back().data_offset);
}

TEST_F(ListingTest, LinksThatLeadNowhereAreLeftToCheck) {
  const Listing listing =
      listed(archive_of(model_of({linked_floats("a", 1, "none"), linked_floats("b", 1, "__MODEL_PROTO"),
                                  tensor("c", dtype::float32, {1}).data_location(1)}),
                        {zip_entry("w", pattern(4))}));
  EXPECT_THAT(listing.entries.at(0).tensors, IsEmpty());
  EXPECT_THAT(listing.model.tensors, IsEmpty());
}

TEST_F(ListingTest, AModelThatCannotBeWalkedIsRefusedWithItsPlace) {
  const Message bad = Message().string(tensor_field::name, "bad").signed_varint(tensor_field::dims, -1);
  const Built archive = archive_of(model_of({bad}));
  const Error error = error_of([&] { static_cast<void>(listed(archive)); });
  expect_error(error, Code::onnx_tensor_dims, "__MODEL_PROTO", place_in(archive.bytes, bad) + 5);
  EXPECT_EQ(error.path(), folder_ / "a.onnxar");
}

TEST_F(ListingTest, OnlyArchivesAreListed) {
  const auto path = folder_.write_file("m.onnx", model_of({floats("w", 1)}).view());
  EXPECT_EQ(kind(error_of([&] { static_cast<void>(ls(path)); }).code()), Kind::format);
  EXPECT_EQ(error_of([this] { static_cast<void>(ls(folder_ / "none")); }).code(), Code::io_not_found);
}

/// Two tensors in entries of other names, and a side file.
Listing named_listing(const TempDir& folder) {
  const Built archive = archive_of(
      model_of({linked_floats("enc.0.w", 256, "a"), linked_floats("dec.0.w", 256, "b")}),
      {zip_entry("a", pattern(1024)), zip_entry("b", pattern(1024)), zip_entry("LICENSE.txt", blob("free"))});
  return ls(folder.write_file("a.onnxar", archive.bytes));
}

std::vector<std::string> names_that_match(const TempDir& folder, std::string_view pattern) {
  Listing listing = named_listing(folder);
  keep_matching(listing, pattern);
  std::vector<std::string> names;
  for (const ListedEntry& entry : listing.entries) names.push_back(entry.name);
  return names;
}

TEST_F(ListingTest, PatternMatchesNamesOfEntriesAndTensors) {
  EXPECT_THAT(names_that_match(folder_, "*"), ElementsAre("a", "b", "LICENSE.txt"));
  EXPECT_THAT(names_that_match(folder_, "enc.*"), ElementsAre("a"));
  EXPECT_THAT(names_that_match(folder_, "???.0.w"), ElementsAre("a", "b"));
  EXPECT_THAT(names_that_match(folder_, "[b-c]"), ElementsAre("b"));
  EXPECT_THAT(names_that_match(folder_, "*.txt"), ElementsAre("LICENSE.txt"));
  EXPECT_THAT(names_that_match(folder_, "enc"), IsEmpty());
}

TEST_F(ListingTest, APatternLeavesTheModelAndTheTotals) {
  const Listing whole = named_listing(folder_);
  Listing none = whole;
  keep_matching(none, "nothing");
  EXPECT_THAT(none.entries, IsEmpty());
  EXPECT_EQ(none.model.name, whole.model.name);
  EXPECT_EQ(none.file_size, whole.file_size);
  EXPECT_EQ(none.padding_bytes, whole.padding_bytes);
}

TEST_F(ListingTest, PatternMatchesOutputsOfConstants) {
  const Message proto = model({.graph = graph({.nodes = {constant("output", linked_floats("", 4, "k"))}})});
  Listing listing = listed(archive_of(proto, {zip_entry("k", pattern(16)), zip_entry("other", pattern(16))}));
  keep_matching(listing, "out*");
  ASSERT_EQ(listing.entries.size(), 1U);
  EXPECT_EQ(listing.entries.front().name, "k");
}

// What an archive has beside its tensors: side files, and the metadata of its model.

TEST(SideFiles, AreWhatNoTensorNamesAndIsNotAKey) {
  const Built built = archive_of(
      model_of({linked_floats("w", 4, "weights.bin"), linked_floats("v", 4, "k")}),
      {zip_entry("tokenizer.json", pattern(3)), zip_entry("weights.bin", pattern(16)), zip_entry("k", pattern(16)),
       zip_entry("old_key", pattern(16)), zip_entry("docs/LICENSE.txt", pattern(3))});
  const Archive archive = opened(built.bytes);
  std::vector<std::string> names;
  for (const ArchiveEntry& entry : side_files(archive)) names.emplace_back(entry.name);
  EXPECT_THAT(names, ElementsAre("tokenizer.json", "docs/LICENSE.txt"));
}

TEST(Metadata, IsThatOfTheModelInItsOrder) {
  const Message proto = model({.graph = graph({}), .metadata = {string_entry("b", "2"), string_entry("a", "")}});
  const Archive archive = opened(archive_of(proto).bytes);
  using Pair = std::pair<std::string_view, std::string_view>;
  EXPECT_THAT(metadata(archive), ElementsAre(Pair("b", "2"), Pair("a", "")));
}

}  // namespace

}  // namespace onnxar::testing
