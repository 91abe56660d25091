// The walk over nodes, graphs and tensors: the elements that it visits, their order and sites.
#include "model/walk.h"

#include <gmock/gmock.h>

#include <string>
#include <vector>

#include "onnx/sites.h"
#include "support/model_samples.h"

namespace onnxar::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Not;
using Strings = std::vector<std::string>;

Message weight(std::string_view name) { return tensor(name, dtype::uint8, {1}).raw_data(Blob(1)); }

Message body(std::string_view op, std::string_view tensor_name) {
  return graph({.nodes = {node(op, {"x"}, {"y"})}, .initializers = {weight(tensor_name)}});
}

/// A tensor, and a node of the same name, at every kind of site.
Message model_with_all_sites() {
  const Message branches = node("If", {"c"}, {"z"},
                                {attribute_g("then", body("InThen", "then.w")), attribute_i("axis", 1),
                                 attribute_graphs("many", {body("InFirst", "first.w"), body("InSecond", "second.w")})});
  const Message sparse =
      sparse_tensor(weight("s.values"), tensor("s.indices", dtype::int64, {1}).raw_data(Blob(8)), {4});
  const Message called = function({.name = "F",
                                   .domain = "f",
                                   .outputs = {"y"},
                                   .nodes = {node("InFunction", {}, {"y"})},
                                   .attribute_protos = {attribute_g("default", body("InDefault", "default.w"))}});
  return model({.graph = graph({.nodes = {branches, constant("c", weight("constant"))},
                                .initializers = {weight("w")},
                                .sparse_initializers = {sparse}}),
                .functions = {called},
                .training = {training_info(body("InTraining", "training.w"), graph({}))}});
}

Strings operators(const schema::ModelProto& model) {
  Strings found;
  for_each_node(model, [&](const auto& node, const Site&) { found.push_back(node.op_type()); });
  return found;
}

// Default attributes are left out.
TEST(Walk, NodesPrecedeTheirSubgraphs) {
  EXPECT_THAT(operators(parsed(model_with_all_sites())),
              ElementsAre("If", "InThen", "InFirst", "InSecond", "Constant", "InTraining", "InFunction"));
}

TEST(Walk, SitesOfTensorsAreThoseOfTheWireWalk) {
  const Message message = model_with_all_sites();
  Strings of_messages, of_wire;
  walk(parsed(message), {.tensor = [&](const auto& tensor, const Site& site) {
         of_messages.push_back(tensor.name() + " " + site.text());
       }});
  onnx::walk_tensors(message.view(), [&](const onnx::TensorSite& site) {
    of_wire.push_back(std::string(site.tensor.name) + " " + site.path());
  });
  EXPECT_THAT(of_messages, ::testing::UnorderedElementsAreArray(of_wire));
  EXPECT_THAT(of_messages, Not(IsEmpty()));
}

TEST(Walk, SubgraphHasOneSiteFromNodeAndModel) {
  const schema::ModelProto model = parsed(model_with_all_sites());
  Strings from_model, from_node;
  walk(model, {.subgraph = [&](const auto&, const Site& site) {
         if (!site.in_default()) from_model.push_back(site.text());
         return true;
       }});
  for_each_subgraph(model.graph().node(0), site_of_node("graph", 0),
                    [&](const auto&, const std::string& site) { from_node.push_back(site); });
  EXPECT_THAT(from_node,
              ElementsAre("graph.node[0].attr.then", "graph.node[0].attr.many[0]", "graph.node[0].attr.many[1]"));
  EXPECT_EQ(from_node, from_model);
}

TEST(Walk, NodesKnowHowManySubgraphsAreAroundThem) {
  const Message inner = node("If", {"c"}, {"y"}, {attribute_g("then", body("Deep", "w"))});
  const Message outer = node("If", {"c"}, {"z"}, {attribute_g("then", graph({.nodes = {inner}}))});
  std::vector<std::size_t> depths;
  for_each_node(parsed(model({.graph = graph({.nodes = {outer, node("Relu", {"z"}, {"a"})}})})),
                [&](const auto&, const Site& site) { depths.push_back(site.subgraphs()); });
  EXPECT_THAT(depths, ElementsAre(0U, 1U, 2U, 0U));
}

TEST(Walk, AGraphThatTheVisitorDeclinesIsNotEntered) {
  Strings tensors;
  walk(parsed(model_with_all_sites()),
       {.subgraph = [](const auto&, const Site&) { return false; },
        .tensor = [&](const auto& tensor, const Site&) { tensors.push_back(tensor.name()); }});
  EXPECT_THAT(tensors, ElementsAre("constant", "w", "s.values", "s.indices", "training.w"));
}

TEST(Walk, GraphsThatAreDefaultsHaveASiteInTheirFunction) {
  const schema::ModelProto model = parsed(model_with_all_sites());
  Strings sites;
  for_each_default_graph(model.functions(0), "functions[0]", [&](const auto& graph, const std::string& site) {
    sites.push_back(site + " " + graph.node(0).op_type());
  });
  EXPECT_THAT(sites, ElementsAre("functions[0].attribute_proto.default InDefault"));
}

}  // namespace
}  // namespace onnxar::testing
