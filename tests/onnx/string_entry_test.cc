// Pairs of strings are read, written, and found in the model's metadata.
#include "onnx/string_entry.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "support/wire_builder.h"

namespace onnxar::testing {
namespace {

using Pairs = std::vector<std::pair<std::string, std::string>>;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;

Pairs found_in(const Message& model, std::string_view prefix) {
  Pairs pairs;
  for (const onnx::MetadataEntry& each : onnx::find_metadata(model.view(), prefix)) {
    pairs.emplace_back(each.entry.key, each.entry.value);
  }
  return pairs;
}

TEST(StringEntry, IsReadAsProtobufWroteIt) {
  const Message entry = string_entry("key", "value");
  const onnx::StringEntry read = onnx::read_string_entry(entry.view(), {0, entry.size()});
  EXPECT_EQ(read.key, "key");
  EXPECT_EQ(read.value, "value");
}

TEST(FindMetadata, LeavesOutFieldsOfAnotherWireType) {
  const Message model = Message().fixed64(model_field::metadata_props, 0x646302126261020a);  // as bytes an entry
  EXPECT_THAT(found_in(model, ""), IsEmpty());
}

TEST(StringEntry, LastOfEachFieldCounts) {
  const Message entry = Message().string(2, "old").string(1, "k").varint(2, 7).string(9, "unknown").string(2, "new");
  const onnx::StringEntry read = onnx::read_string_entry(entry.view(), {0, entry.size()});
  EXPECT_EQ(read.key, "k");
  EXPECT_EQ(read.value, "new");
}

TEST(StringEntry, IsWrittenAsTheField) {
  std::string out;
  onnx::append_string_entry(out, 14, "key", std::string(300, 'v'));
  EXPECT_EQ(out, Message().message(14, string_entry("key", std::string(300, 'v'))).str());
}

TEST(Metadata, IsFoundByTheBeginningOfItsKeys) {
  const Message model = testing::model({.graph = graph({}),
                                        .metadata = {string_entry("a.1", "x"), string_entry("b.1", "y"),
                                                     string_entry("a.", "z"), string_entry("a", "no")}});
  EXPECT_THAT(found_in(model, "a."), ElementsAre(Pair("a.1", "x"), Pair("a.", "z")));
  EXPECT_THAT(found_in(model, "c"), IsEmpty());
}

TEST(Metadata, IsNotThatOfGraphs) {
  const Message inner = Message().message(graph_field::metadata_props, string_entry("a", "x"));
  EXPECT_THAT(found_in(testing::model({.graph = inner}), "a"), IsEmpty());
}

TEST(Metadata, SkipsDamagedEntries) {
  const Message damaged = Message().claimed_length(1, 100);
  const Message model =
      testing::model({.graph = graph({}), .metadata = {string_entry("a", "x"), damaged, string_entry("a", "y")}});
  EXPECT_THAT(found_in(model, "a"), ElementsAre(Pair("a", "x"), Pair("a", "y")));
}

}  // namespace
}  // namespace onnxar::testing
