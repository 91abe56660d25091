// The walk finds every tensor of a model, by every path of the schema, and nothing else. The vectors of spec/vectors
// show each fault of a model.
#include "onnx/sites.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <vector>

#include "onnx/error_of.h"
#include "support/guarded_buffer.h"
#include "support/wire_builder.h"

namespace onnxar::testing {
namespace {

using onnx::SiteKind;
using ::testing::ElementsAre;

struct Found {
  std::string name;
  std::string path;
  SiteKind kind;
  bool operator==(const Found&) const = default;
};

std::ostream& operator<<(std::ostream& out, const Found& found) {
  return out << found.name << ' ' << found.path << ' ' << static_cast<int>(found.kind);
}

std::vector<Found> walk(Bytes model) {
  std::vector<Found> all;
  onnx::walk_tensors(model, [&](const onnx::TensorSite& site) {
    all.push_back({std::string(site.tensor.name), site.path(), site.kind});
  });
  return all;
}

std::vector<Found> walk(const Message& model) { return walk(model.view()); }

/// The tensor that a walk of `model` finds. REQUIRES: it has one.
Found only(const Message& model) {
  const std::vector<Found> all = walk(model);
  if (all.size() != 1) throw std::logic_error("not one tensor");
  return all.front();
}

Message t(std::string_view name) { return tensor(name, dtype::float32, {1}).raw_data(pattern(4)); }
Message sparse(const std::string& name) { return sparse_tensor(t(name + "_values"), t(name + "_indices"), {9}); }
Message with_nodes(const Messages& nodes) { return model({.graph = graph({.nodes = nodes})}); }
Message node_with(const Message& attribute) { return node("Op", {}, {}, {attribute}); }

/// The i-th of a depth: `levels` messages down to the tensor, by way of subgraphs.
Message tensor_at_level(std::size_t levels) {
  const std::size_t rest = levels % 3;  // graph.node.attribute go round; the way ends in one of three ways
  const Message innermost = rest == 2   ? graph({.initializers = {t("w")}})
                            : rest == 0 ? graph({.sparse_initializers = {sparse("w")}})
                                        : graph({.nodes = {constant("w", t("w"))}});
  const std::size_t own = rest == 2 ? 2 : rest == 0 ? 3 : 4;
  return model({.graph = subgraph_of_depth((levels - own) / 3, innermost)});
}

TEST(Walk, InitializersOfTheGraphAreFoundInOrder) {
  EXPECT_THAT(walk(model({.graph = graph({.initializers = {t("a"), t("b")}})})),
              ElementsAre(Found{"a", "graph.initializer[0]", SiteKind::initializer},
                          Found{"b", "graph.initializer[1]", SiteKind::initializer}));
}

TEST(Walk, SparseInitializersHaveValuesAndIndices) {
  EXPECT_THAT(walk(model({.graph = graph({.sparse_initializers = {sparse("s")}})})),
              ElementsAre(Found{"s_values", "graph.sparse_initializer[0].values", SiteKind::sparse_values},
                          Found{"s_indices", "graph.sparse_initializer[0].indices", SiteKind::sparse_indices}));
}

TEST(Walk, AttributesAreNamedByTheirNames) {
  EXPECT_EQ(only(with_nodes({node("Relu", {}, {}), constant("y", t("w"))})),
            (Found{"w", "graph.node[1].attr.value", SiteKind::attribute}));
  EXPECT_THAT(walk(with_nodes({node_with(attribute_tensors("many", {t("a"), t("b")}))})),
              ElementsAre(Found{"a", "graph.node[0].attr.many[0]", SiteKind::attribute},
                          Found{"b", "graph.node[0].attr.many[1]", SiteKind::attribute}));
}

TEST(ConstantOutput, IsThatOfTheConstantNodeOfTheTensor) {
  const auto output = [](const Message& node) {
    std::string found;
    onnx::walk_tensors(with_nodes({node}).view(), [&](const onnx::TensorSite& site) {
      found = site.constant_output();
      EXPECT_FALSE(site.is_main_initializer());
    });
    return found;
  };
  const Message value = attribute_t("value", t("w"));
  EXPECT_EQ(output(constant("y", t("w"))), "y");
  EXPECT_EQ(output(node("Constant", {}, {"y"}, {value}, "ai.onnx")), "y");
  EXPECT_EQ(output(node("Constant", {}, {"y"}, {value}, "other")), "");
  EXPECT_EQ(output(node("Op", {}, {"y"}, {value})), "");
  EXPECT_EQ(output(node("Constant", {}, {"y"}, {attribute_i("i", 1), value})), "") << "only the first is asked";
  EXPECT_EQ(output(node("Constant", {}, {"y"}, {attribute_tensors("value", {t("w")})})), "");
}

TEST(ConstantOutput, IsEmptyForTensorsWithoutANode) {
  std::size_t initializers = 0;
  // Its input has the number of a node's operator, and the unknown field that of a node's output.
  const Message function =
      Message(testing::function({.inputs = {"Constant"}, .attribute_protos = {attribute_t("value", t("d"))}}))
          .string(node_field::output, "y");
  const Message all = model({.graph = graph({.initializers = {t("w")}, .sparse_initializers = {sparse("s")}}),
                             .functions = {function},
                             .training = {training_info(graph({.initializers = {t("t")}}), graph({}))}});
  onnx::walk_tensors(all.view(), [&](const onnx::TensorSite& site) {
    EXPECT_EQ(site.constant_output(), "");
    initializers += site.is_main_initializer() ? 1U : 0U;
  });
  EXPECT_EQ(initializers, 1U);
}

TEST(InSubgraph, IsWhatAGraphInANodeHolds) {
  std::vector<std::string> inside;
  const Message body = graph({.nodes = {constant("y", t("c"))}, .initializers = {t("i")}});
  const Messages nodes = {node_with(attribute_g("body", body)), constant("z", t("m"))};
  const Message all =
      model({.graph = graph({.nodes = nodes, .initializers = {t("w")}}),
             .functions = {function({.nodes = {constant("y", t("f")), node_with(attribute_g("g", body))}})}});
  onnx::walk_tensors(all.view(), [&](const onnx::TensorSite& site) {
    if (site.is_in_subgraph()) inside.emplace_back(site.tensor.name);
  });
  EXPECT_THAT(inside, ElementsAre("c", "i", "c", "i"));
}

TEST(Walk, AttributeIsNumberedIfItsNameIsNoIdentifier) {
  const Message node = testing::node("Op", {}, {}, {attribute_i("i", 1), attribute_t("a.b", t("w"))});
  EXPECT_EQ(only(with_nodes({node})).path, "graph.node[0].attribute[1]");
  EXPECT_EQ(only(with_nodes({node_with(attribute_t("", t("w")))})).path, "graph.node[0].attribute[0]");
}

TEST(Walk, SparseAttributesAreFound) {
  EXPECT_THAT(walk(with_nodes({node_with(attribute_sparse_tensor("one", sparse("s")))})),
              ElementsAre(Found{"s_values", "graph.node[0].attr.one.values", SiteKind::sparse_values},
                          Found{"s_indices", "graph.node[0].attr.one.indices", SiteKind::sparse_indices}));
  EXPECT_EQ(walk(with_nodes({node_with(attribute_sparse_tensors("many", {sparse("r"), sparse("s")}))})).at(2),
            (Found{"s_values", "graph.node[0].attr.many[1].values", SiteKind::sparse_values}));
}

TEST(Walk, VisitsSubgraphsLikeGraphs) {
  const Message inner = graph({.nodes = {constant("y", t("c"))}, .initializers = {t("i")}});
  EXPECT_THAT(walk(with_nodes({node_with(attribute_g("body", inner))})),
              ElementsAre(Found{"c", "graph.node[0].attr.body.node[0].attr.value", SiteKind::attribute},
                          Found{"i", "graph.node[0].attr.body.initializer[0]", SiteKind::initializer}));
  EXPECT_EQ(walk(with_nodes({node_with(attribute_graphs("all", {graph({}), inner}))})).at(1),
            (Found{"i", "graph.node[0].attr.all[1].initializer[0]", SiteKind::initializer}));
}

TEST(Walk, FunctionBodiesHaveNodesAndDefaults) {
  const Message inner = graph({.initializers = {t("i")}});
  const Message body = node("If", {}, {}, {attribute_g("then_branch", inner)});
  const Message f = function({.nodes = {constant("y", t("c")), body},
                              .attribute_protos = {attribute_t("alpha", t("d")), attribute_g("g", inner),
                                                   attribute_sparse_tensor("s", sparse("s"))}});
  EXPECT_THAT(walk(model({.graph = graph({}), .functions = {function({}), f}})),
              ElementsAre(Found{"c", "functions[1].node[0].attr.value", SiteKind::attribute},
                          Found{"i", "functions[1].node[1].attr.then_branch.initializer[0]", SiteKind::initializer},
                          Found{"d", "functions[1].attribute_proto.alpha", SiteKind::function_default},
                          Found{"i", "functions[1].attribute_proto.g.initializer[0]", SiteKind::function_default},
                          Found{"s_values", "functions[1].attribute_proto.s.values", SiteKind::function_default},
                          Found{"s_indices", "functions[1].attribute_proto.s.indices", SiteKind::sparse_indices}));
}

TEST(Walk, VisitsTrainingInfoAndItsIndices) {
  const Message inner = graph({.initializers = {t("i")}, .sparse_initializers = {sparse("s")}});
  const Message algorithm = graph({.nodes = {constant("y", t("c"))}});
  EXPECT_THAT(
      walk(model({.graph = graph({}), .training = {training_info(graph({}), algorithm), training_info(inner, {})}})),
      ElementsAre(Found{"c", "training_info[0].algorithm.node[0].attr.value", SiteKind::training},
                  Found{"i", "training_info[1].initialization.initializer[0]", SiteKind::training},
                  Found{"s_values", "training_info[1].initialization.sparse_initializer[0].values", SiteKind::training},
                  Found{"s_indices", "training_info[1].initialization.sparse_initializer[0].indices",
                        SiteKind::sparse_indices}));
}

TEST(Walk, TensorsComeInTheOrderOfTheWire) {
  const Message backwards = Message()
                                .message(model_field::functions, function({.nodes = {constant("y", t("function"))}}))
                                .message(model_field::graph, Message()
                                                                 .message(graph_field::initializer, t("initializer"))
                                                                 .message(graph_field::node, constant("y", t("node"))));
  std::vector<std::string> names;
  for (const Found& found : walk(backwards)) names.push_back(found.name);
  EXPECT_THAT(names, ElementsAre("function", "initializer", "node"));
}

TEST(Walk, ASiteLeadsFromTheModelDownToTheTensor) {
  const Message whole = with_nodes({constant("y", t("w"))});
  onnx::walk_tensors(whole.view(), [&](const onnx::TensorSite& site) {
    ASSERT_EQ(site.levels.size(), 4U);
    EXPECT_EQ(site.levels[0].message, onnx::Message::graph);
    EXPECT_EQ(site.levels[1].message, onnx::Message::node);
    EXPECT_EQ(site.levels[2].message, onnx::Message::attribute);
    EXPECT_EQ(site.levels[3].message, onnx::Message::tensor);
    EXPECT_EQ(site.levels[3].field.value, site.tensor.range);
    EXPECT_TRUE(std::ranges::equal(site.tensor.range.of(site.model), t("w").view()));
  });
}

TEST(Walk, OtherFilesAreRefused) {
  for (const std::string text : {"PK\x03\x04 and so on", "\x89PNG\r\n\x1a\n", "{\"a\": 1}", "hello, world\n"}) {
    EXPECT_EQ(kind(error_of([&text] { walk(as_bytes(text)); }).code()), Kind::format) << text;
  }
}

/// A message with this field twice, in a model.
void expect_twice_refused(const std::function<Message(const Message&)>& in_model, std::uint32_t field,
                          const Message& inner) {
  const Message once = Message().message(field, inner);
  EXPECT_NO_THROW(walk(in_model(once))) << field;
  const Message second = Message().raw(once).raw(once);
  const Error error = error_of([&] { walk(in_model(second)); });
  EXPECT_EQ(id(error.code()), "wire.repeated_message") << field;
  const std::string bytes = in_model(second).str();
  EXPECT_EQ(error.offset(), bytes.find(second.str()) + once.size()) << field;
}

// The vectors of spec/vectors have the other messages that are not repeated.
TEST(Walk, IndicesAndAlgorithmsAreRefusedTheSecondTime) {
  const auto in_sparse = [](const Message& content) {
    return model({.graph = Message().message(graph_field::sparse_initializer, content)});
  };
  const auto in_training = [](const Message& content) { return model({.graph = graph({}), .training = {content}}); };
  expect_twice_refused(in_sparse, sparse_tensor_field::indices, t("w"));
  expect_twice_refused(in_training, training_field::algorithm, graph({.name = "first"}));
}

TEST(Walk, VisitsAHundredNestedMessagesAndNoMore) {
  for (std::size_t level : {4U, 5U, 6U, 50U, 99U, 100U}) {
    EXPECT_EQ(walk(tensor_at_level(level)).size(), level % 3 == 0 ? 2U : 1U) << level;
  }
  for (std::size_t level : {101U, 102U, 103U}) {
    const Error error = error_of([level] { walk(tensor_at_level(level)); });
    EXPECT_EQ(id(error.code()), "wire.depth") << level;
    EXPECT_GT(error.offset(), 0U);
  }
}

TEST(Walk, ABottomlessModelIsRefusedAtTheLimit) {
  const Error error = error_of([] { walk(model({.graph = subgraph_of_depth(100000)})); });
  EXPECT_EQ(id(error.code()), "wire.depth");
}

TEST(Walk, ATruncatedModelIsRefusedOrHasNoGraph) {
  const Blob whole = model({.graph = graph({.initializers = {t("w")}})}).take();
  for (std::size_t cut = 0; cut < whole.size(); ++cut) {
    try {
      EXPECT_EQ(walk(Bytes(whole).first(cut)).size(), 1U) << cut;  // cut after the graph, between two fields
    } catch (const Error& error) {
      EXPECT_TRUE(error.code() == Code::wire_truncated || error.code() == Code::onnx_model_invalid) << error.what();
    }
  }
}

TEST(Walk, PayloadsAreNeverTouched) {
  const std::size_t page = GuardedBuffer::page_size();
  const Message whole =
      model({.graph = graph(
                 {.initializers = {
                      tensor("w", dtype::uint8, {static_cast<std::int64_t>(4 * page)}).raw_data(Blob(4 * page))}})});
  GuardedBuffer buffer = GuardedBuffer::starting_after_guard(whole.view());
  // The payload begins on the first page. The second and third page hold only payload.
  buffer.forbid(page, 2 * page);
  EXPECT_EQ(walk(buffer.bytes()).size(), 1U);
}

}  // namespace
}  // namespace onnxar::testing
