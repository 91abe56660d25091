// Which elements of two lists belong together.
#include "model/matching.h"

#include <gmock/gmock.h>

#include <string>
#include <utility>
#include <vector>

namespace onnxar::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;

/// Name and output of a node.
using Named = std::pair<std::string, std::string>;

schema::GraphProto graph_with(const std::vector<Named>& nodes) {
  schema::GraphProto graph;
  for (const auto& [name, output] : nodes) {
    schema::NodeProto& node = *graph.add_node();
    node.set_name(name);
    if (!output.empty()) node.add_output(output);
  }
  return graph;
}

Matching matched(const std::vector<Named>& before, const std::vector<Named>& after) {
  const auto& field = *schema::GraphProto::descriptor()->FindFieldByNumber(schema::GraphProto::kNodeFieldNumber);
  return match(graph_with(before), graph_with(after), field);
}

TEST(Matching, NamesGoBeforeOutputs) {
  const Matching found = matched({{"n", "a"}, {"m", "b"}}, {{"m", "a"}, {"n", "b"}});
  EXPECT_THAT(found.both, ElementsAre(Pair(0, 1), Pair(1, 0)));
  EXPECT_THAT(found.removed, IsEmpty());
  EXPECT_THAT(found.added, IsEmpty());
}

TEST(Matching, NodesOfOtherNamesAreMatchedByTheirOutputs) {
  EXPECT_THAT(matched({{"old", "a"}, {"", "b"}}, {{"", "b"}, {"new", "a"}}).both, ElementsAre(Pair(0, 1), Pair(1, 0)));
}

TEST(Matching, NodesThatShareAKeyAreMatchedInTheirOrder) {
  const Matching found = matched({{"n", ""}, {"n", ""}, {"n", ""}}, {{"n", ""}, {"n", ""}});
  EXPECT_THAT(found.both, ElementsAre(Pair(0, 0), Pair(1, 1)));
  EXPECT_THAT(found.removed, ElementsAre(2));
}

TEST(Matching, UniqueKeyWithoutCounterpartIsNotMatched) {
  const Matching found = matched({{"n", "a"}}, {{"m", "b"}});
  EXPECT_THAT(found.both, IsEmpty());
  EXPECT_THAT(found.removed, ElementsAre(0));
  EXPECT_THAT(found.added, ElementsAre(0));
}

TEST(Matching, TwoOutputsAreNotOneOfTheirJoinedName) {
  schema::GraphProto before = graph_with({{"", "a"}});
  before.mutable_node(0)->add_output("b");
  const schema::GraphProto after = graph_with({{"", "ab"}});
  const auto& field = *schema::GraphProto::descriptor()->FindFieldByName("node");
  EXPECT_THAT(match(before, after, field).both, IsEmpty());
}

TEST(NameIn, OfAFunctionAndAnOperatorSetHasTheDomain) {
  schema::FunctionProto function;
  function.set_domain("d");
  function.set_name("F");
  EXPECT_EQ(name_in(function), "d.F");
  function.set_overload("o");
  EXPECT_EQ(name_in(function), "d.F:o");
  EXPECT_EQ(name_in(schema::OperatorSetIdProto()), "ai.onnx");
  schema::StringStringEntryProto pair;
  pair.set_key("k");
  EXPECT_EQ(name_in(pair), "k");
  EXPECT_EQ(name_in(schema::TensorShapeProto::Dimension()), "");
}

}  // namespace
}  // namespace onnxar::testing
