// The walk through a model: sites, names, dimensions, data, graphs.
#include <cstdint>
#include <map>
#include <optional>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "reader/walking.h"

namespace onnxar::testing {
namespace {

struct Seen {
  std::string site;
  int kind_of_site = 0;
  std::string name;

  friend bool operator==(const Seen&, const Seen&) = default;
  friend void PrintTo(const Seen& seen, std::ostream* out) {  // NOLINT(readability-identifier-naming)
    *out << seen.site << ' ' << seen.kind_of_site << ' ' << seen.name;
  }
};

std::vector<Seen> seen_in(const Message& model) {
  std::vector<Seen> all;
  const auto visit = [&all](const onnxar_reader_walk* walk, const onnxar_reader_tensor& tensor) {
    all.push_back({site_of(walk), tensor.site, std::string(name_of(tensor))});
  };
  EXPECT_EQ(walk(archive_of_model(model), visit), std::nullopt);
  return all;
}

std::string code_of_walk(const Message& model) {
  const auto fault = walk(archive_of_model(model), [](const onnxar_reader_walk*, const onnxar_reader_tensor&) {});
  return fault ? fault->code : "";
}

TEST(ReaderWalk, FindsTensorsAtEverySite) {
  const Message sparse = sparse_tensor(floats("sv", 1), tensor("si", dtype::int64, {1}).int64_data({0}), {3});
  const Message inner = graph({.initializers = {floats("inner", 1)}});
  const Message body = node("If", {}, {}, {attribute_g("then", inner), attribute_graphs("more", {inner, inner})});
  const Message values =
      node("X", {}, {}, {attribute_t("a", floats("t", 1)), attribute_tensors("b", {floats("b0", 1), floats("b1", 1)})});
  const Message sparse_node =
      node("Y", {}, {}, {attribute_sparse_tensor("s", sparse), attribute_sparse_tensors("r", {sparse})});
  ModelParts parts;
  parts.graph =
      graph({.nodes = {values, body, sparse_node}, .initializers = {floats("w", 1)}, .sparse_initializers = {sparse}});
  parts.functions = {function({.nodes = {values},
                               .attribute_protos = {attribute_t("d", floats("default", 1)), attribute_g("g", inner),
                                                    attribute_sparse_tensor("s", sparse)}})};
  parts.training = {training_info(inner, graph({.nodes = {sparse_node}}))};
  const std::vector<Seen> expected = {
      {"graph.node[0].attribute[0].t", OAR_ATTRIBUTE, "t"},
      {"graph.node[0].attribute[1].tensors[0]", OAR_ATTRIBUTE, "b0"},
      {"graph.node[0].attribute[1].tensors[1]", OAR_ATTRIBUTE, "b1"},
      {"graph.node[1].attribute[0].g.initializer[0]", OAR_INITIALIZER, "inner"},
      {"graph.node[1].attribute[1].graphs[0].initializer[0]", OAR_INITIALIZER, "inner"},
      {"graph.node[1].attribute[1].graphs[1].initializer[0]", OAR_INITIALIZER, "inner"},
      {"graph.node[2].attribute[0].sparse_tensor.values", OAR_SPARSE_VALUES, "sv"},
      {"graph.node[2].attribute[0].sparse_tensor.indices", OAR_SPARSE_INDICES, "si"},
      {"graph.node[2].attribute[1].sparse_tensors[0].values", OAR_SPARSE_VALUES, "sv"},
      {"graph.node[2].attribute[1].sparse_tensors[0].indices", OAR_SPARSE_INDICES, "si"},
      {"graph.initializer[0]", OAR_INITIALIZER, "w"},
      {"graph.sparse_initializer[0].values", OAR_SPARSE_VALUES, "sv"},
      {"graph.sparse_initializer[0].indices", OAR_SPARSE_INDICES, "si"},
      {"training_info[0].initialization.initializer[0]", OAR_TRAINING, "inner"},
      {"training_info[0].algorithm.node[0].attribute[0].sparse_tensor.values", OAR_TRAINING, "sv"},
      {"training_info[0].algorithm.node[0].attribute[0].sparse_tensor.indices", OAR_SPARSE_INDICES, "si"},
      {"training_info[0].algorithm.node[0].attribute[1].sparse_tensors[0].values", OAR_TRAINING, "sv"},
      {"training_info[0].algorithm.node[0].attribute[1].sparse_tensors[0].indices", OAR_SPARSE_INDICES, "si"},
      {"functions[0].node[0].attribute[0].t", OAR_ATTRIBUTE, "t"},
      {"functions[0].node[0].attribute[1].tensors[0]", OAR_ATTRIBUTE, "b0"},
      {"functions[0].node[0].attribute[1].tensors[1]", OAR_ATTRIBUTE, "b1"},
      {"functions[0].attribute_proto[0].t", OAR_FUNCTION_DEFAULT, "default"},
      {"functions[0].attribute_proto[1].g.initializer[0]", OAR_FUNCTION_DEFAULT, "inner"},
      {"functions[0].attribute_proto[2].sparse_tensor.values", OAR_FUNCTION_DEFAULT, "sv"},
      {"functions[0].attribute_proto[2].sparse_tensor.indices", OAR_SPARSE_INDICES, "si"},
  };
  EXPECT_EQ(seen_in(model(parts)), expected);
}

TEST(ReaderWalk, NumbersTheGraphsThatHaveTensors) {
  const auto named_w = [] { return graph({.initializers = {floats("w", 1)}}); };
  const Message branches =
      node("If", {}, {}, {attribute_g("then_branch", named_w()), attribute_g("else_branch", named_w())});
  const Message body = constant("y", floats("w", 1));
  ModelParts parts;
  parts.graph = graph({.nodes = {branches, body}, .initializers = {floats("w", 1)}});
  parts.functions = {function({.nodes = {body, body}}), function({.nodes = {body}})};
  parts.training = {training_info(named_w(), named_w())};
  std::vector<std::pair<std::size_t, std::string>> all;
  const auto visit = [&all](const onnxar_reader_walk* walk, const onnxar_reader_tensor& tensor) {
    all.emplace_back(tensor.graph, site_of(walk));
  };
  EXPECT_EQ(walk(archive_of_model(model(parts)), visit), std::nullopt);
  std::map<std::size_t, std::vector<std::string>> by_graph;
  for (const auto& [number, site] : all) by_graph[number].push_back(site);
  using Sites = std::vector<std::string>;
  EXPECT_EQ(by_graph[0], (Sites{"graph.node[1].attribute[0].t", "graph.initializer[0]"}));
  by_graph.erase(0);
  std::vector<Sites> others;
  for (const auto& [number, sites] : by_graph) {
    EXPECT_EQ(number, others.size() + 1) << "as resolve_all numbers them";
    others.push_back(sites);
  }
  EXPECT_EQ(others, (std::vector<Sites>{{"graph.node[0].attribute[0].g.initializer[0]"},
                                        {"graph.node[0].attribute[1].g.initializer[0]"},
                                        {"training_info[0].initialization.initializer[0]"},
                                        {"training_info[0].algorithm.initializer[0]"},
                                        {"functions[0].node[0].attribute[0].t", "functions[0].node[1].attribute[0].t"},
                                        {"functions[1].node[0].attribute[0].t"}}));
}

TEST(ReaderWalk, MainGraphIsNumberZeroWhereverItIs) {
  const Message late = Message()
                           .message(model_field::functions, function({.nodes = {constant("y", floats("f", 1))}}))
                           .message(model_field::graph, graph({.initializers = {floats("w", 1)}}));
  std::map<std::string, std::size_t> graphs;
  const auto visit = [&graphs](const onnxar_reader_walk*, const onnxar_reader_tensor& tensor) {
    graphs.emplace(name_of(tensor), tensor.graph);
  };
  EXPECT_EQ(walk(archive_of_model(late), visit), std::nullopt);
  EXPECT_EQ(graphs, (std::map<std::string, std::size_t>{{"f", 1}, {"w", 0}}));
}

TEST(ReaderWalk, NamesAConstantByItsOutput) {
  const auto node_of = [](std::string_view type, const char* domain, const Messages& attributes) {
    return node(type, {}, {"out", "second"}, attributes).string(node_field::domain, domain);
  };
  const auto t = [](std::string_view name) { return Messages{attribute_t("value", floats(name, 1))}; };
  const Message then = graph({.nodes = {node_of("Constant", "", t("in a branch"))}});
  const Message whole = model(
      {.graph = graph({.nodes = {node_of("Constant", "", t("a")), node_of("Constant", "ai.onnx", t("b")),
                                 node_of("Constant", "mine", t("other domain")), node_of("Other", "", t("other type")),
                                 node_of("Constant", "", {attribute_tensors("v", {floats("several", 1)})}),
                                 node("If", {}, {"y"}, {attribute_g("then_branch", then)})},
                       .initializers = {floats("w", 1)}})});
  std::map<std::string, std::string> outputs;
  const auto visit = [&outputs](const onnxar_reader_walk* walk, const onnxar_reader_tensor& tensor) {
    std::size_t length = 0;
    const char* name = onnxar_reader_walk_output(walk, &length);
    outputs.emplace(name_of(tensor), name == nullptr ? "none" : std::string(name, length));
  };
  EXPECT_EQ(walk(archive_of_model(whole), visit), std::nullopt);
  EXPECT_EQ(outputs, (std::map<std::string, std::string>{{"a", "out"},
                                                         {"b", "out"},
                                                         {"other domain", "none"},
                                                         {"other type", "none"},
                                                         {"several", "none"},
                                                         {"in a branch", "out"},
                                                         {"w", "none"}}));
}

TEST(ReaderWalk, HasNoOutputOutsideOfATensor) {
  const Blob bytes = archive_of_model(model(
      {.graph = graph({.nodes = {constant("y", floats("a", 1)), constant("z", linked_floats("b", 1, "none"))}})}));
  const Reader archive = opened(bytes);
  onnxar_reader_walk* walk = nullptr;
  onnxar_reader_tensor tensor = {};
  ASSERT_EQ(onnxar_reader_walk_open(archive.get(), 1, &walk, nullptr), 0);
  const ReaderWalk owner(walk);
  std::size_t length = 7;
  EXPECT_EQ(onnxar_reader_walk_output(walk, &length), nullptr);
  EXPECT_EQ(onnxar_reader_walk_next(walk, &tensor, nullptr), 1);
  EXPECT_NE(onnxar_reader_walk_output(walk, &length), nullptr);
  EXPECT_EQ(onnxar_reader_walk_next(walk, &tensor, nullptr), -1);
  EXPECT_EQ(onnxar_reader_walk_output(walk, &length), nullptr);
}

TEST(ReaderWalk, SitesAreCutAsBySnprintf) {
  walk(archive_of_model(model_of({floats("w", 1)})), [](const onnxar_reader_walk* walk, const onnxar_reader_tensor&) {
    char room[8] = "xxxxxxx";
    EXPECT_EQ(onnxar_reader_walk_site(walk, &room[0], sizeof room), 20U);
    EXPECT_STREQ(&room[0], "graph.i");
    EXPECT_EQ(onnxar_reader_walk_site(walk, &room[0], 1), 20U);
    EXPECT_STREQ(&room[0], "");
  });
}

TEST(ReaderWalk, ReturnsDataInPlace) {
  const Message model =
      model_of({linked_floats("l", 4, "w", 64), floats("i", 2), tensor("s", dtype::float32, {}).raw_data(pattern(4)),
                tensor("e", dtype::float32, {0, 7}), tensor("later", dtype::int8, {5})});
  const Built built = archive_of(model, {zip_entry("w", pattern(1024))});
  std::vector<std::string> all;
  const auto visit = [&](const onnxar_reader_walk* /*walk*/, const onnxar_reader_tensor& tensor) {
    all.emplace_back(name_of(tensor));
    const std::string& name = all.back();
    EXPECT_EQ(tensor.kind, name == "l"                      ? OAR_LINKED
                           : name == "e" || name == "later" ? OAR_NO_DATA
                                                            : OAR_INLINE)
        << name;
    EXPECT_EQ(tensor.elements, name == "l" ? 4U : name == "i" ? 2U : name == "s" ? 1U : name == "e" ? 0U : 5U);
    if (tensor.data == nullptr) return;
    EXPECT_EQ(tensor.size, tensor.elements * 4) << name;
    EXPECT_EQ(tensor.data, built.bytes.data() + tensor.offset) << name;
    EXPECT_EQ(tensor.entry, name == "l" ? 0U : OAR_NOT_FOUND) << name;
  };
  EXPECT_EQ(walk(built.bytes, visit), std::nullopt);
  EXPECT_EQ(all, (std::vector<std::string>{"l", "i", "s", "e", "later"}));
}

TEST(ReaderWalk, WithCallbacksDataIsCopied) {
  const Message model = model_of({linked_floats("l", 4, "w", 64), floats("i", 2)});
  const Built built = archive_of(model, {zip_entry("w", pattern(1024))});
  ByteSource source(built.bytes);
  std::optional<ReaderFault> fault;
  const Reader archive = opened(source, fault);
  ASSERT_EQ(fault, std::nullopt);
  const auto visit = [&](const onnxar_reader_walk* walk, const onnxar_reader_tensor& tensor) {
    std::size_t size = 0;
    const void* model_bytes = onnxar_reader_walk_model(walk, &size);
    EXPECT_EQ(size, model.size());
    EXPECT_EQ(std::memcmp(model_bytes, model.view().data(), size), 0);
    Blob copy(tensor.size);
    EXPECT_EQ(onnxar_reader_copy(archive.get(), tensor.offset, copy.size(), copy.data(), nullptr), 0);
    EXPECT_TRUE(std::ranges::equal(copy, Bytes(built.bytes).subspan(tensor.offset, tensor.size)));
    EXPECT_EQ(tensor.data == nullptr, tensor.kind == OAR_LINKED);
  };
  EXPECT_EQ(walk_model(archive.get(), 1, visit), std::nullopt);
}

TEST(ReaderWalk, RepeatsAnErrorAtEachCall) {
  const Blob bytes = archive_of_model(model_of({floats("a", 1), linked_floats("b", 1, "missing"), floats("c", 1)}));
  const Reader archive = opened(bytes);
  onnxar_reader_walk* walk = nullptr;
  onnxar_reader_tensor tensor = {};
  onnxar_reader_error error = {};
  ASSERT_EQ(onnxar_reader_walk_open(archive.get(), 1, &walk, &error), 0);
  const ReaderWalk owner(walk);
  EXPECT_EQ(onnxar_reader_walk_next(walk, &tensor, &error), 1);
  for (int times = 0; times < 3; ++times) {
    error = {};
    EXPECT_EQ(onnxar_reader_walk_next(walk, &tensor, &error), -1);
    EXPECT_STREQ(error.code, "onnx.external_data.missing");
    EXPECT_STREQ(error.rule, "M9");
    EXPECT_STREQ(error.entry, "__MODEL_PROTO");
    EXPECT_STREQ(error.location, "missing");
  }
  EXPECT_EQ(onnxar_reader_walk_next(walk, nullptr, nullptr), -1);
}

TEST(ReaderWalk, RepeatsTheEndAtEachCall) {
  const Blob bytes = archive_of_model(model_of({floats("a", 1)}));
  const Reader kept = opened(bytes);
  onnxar_reader_walk* walk = nullptr;
  onnxar_reader_tensor tensor = {};
  ASSERT_EQ(onnxar_reader_walk_open(kept.get(), 1, &walk, nullptr), 0);
  const ReaderWalk owner(walk);
  EXPECT_EQ(onnxar_reader_walk_next(walk, &tensor, nullptr), 1);
  EXPECT_EQ(onnxar_reader_walk_next(walk, &tensor, nullptr), 0);
  EXPECT_EQ(onnxar_reader_walk_next(walk, &tensor, nullptr), 0);
}

TEST(ReaderWalk, NestsAHundredMessages) {
  // 33 graphs of 3 messages each, the graph above them, and an initializer are 101.
  const auto nested = [](std::size_t depth, const Message& innermost) {
    return model({.graph = subgraph_of_depth(depth, innermost)});
  };
  EXPECT_EQ(code_of_walk(nested(32, graph({.initializers = {floats("w", 1)}}))), "");
  EXPECT_EQ(code_of_walk(nested(33, graph({.initializers = {floats("w", 1)}}))), "wire.depth");
  EXPECT_EQ(code_of_walk(nested(33, graph({}))), "");
  EXPECT_EQ(code_of_walk(nested(34, graph({}))), "wire.depth");
  const std::vector<Seen> seen = seen_in(nested(32, graph({.initializers = {floats("w", 1)}})));
  ASSERT_EQ(seen.size(), 1U);
  EXPECT_TRUE(seen[0].site.ends_with(".g.initializer[0]"));
}

TEST(ReaderWalk, ReturnsUnknownTypesWithTheirBytes) {
  const Message model = model_of({tensor("u", 99, {1000, 1'000'000'000, 1'000'000'000'000}).external("w", 1000)});
  const auto visit = [](const onnxar_reader_walk*, const onnxar_reader_tensor& tensor) {
    EXPECT_EQ(tensor.data_type, 99);
    EXPECT_EQ(tensor.elements, UINT64_MAX);
    EXPECT_EQ(tensor.size, 24U);
  };
  EXPECT_EQ(walk(archive_of_model(model), visit), std::nullopt);
  // A length that cannot be is not taken for none.
  const std::uint64_t most = UINT64_MAX;
  EXPECT_EQ(code_of_walk(model_of({tensor("u", 99, {1}).external("w", 0, most)})), "onnx.external_data.out_of_range");
}

TEST(ReaderGraphs, AreWalkedByName) {
  const Message graph = model_of({linked_floats("g", 2, "w")});
  const Built built =
      archive_of(model_of({}), {zip_entry("w", pattern(1024)), zip_entry("folder/.onnx", {}), zip_entry(".onnx", {}),
                                zip_entry("b.ONNX", {}), zip_entry("decoder.onnx", graph.view())});
  const Reader archive = opened(built.bytes);
  const std::size_t index = onnxar_reader_find(archive.get(), "decoder.onnx", 12);
  ASSERT_EQ(index, 4U);
  for (std::size_t i = 0; i < 6; ++i) EXPECT_EQ(onnxar_reader_is_graph(archive.get(), i), i == 4 ? 1 : 0);
  std::vector<std::string> names;
  EXPECT_EQ(walk_model(archive.get(), index,
                       [&](const onnxar_reader_walk*, const onnxar_reader_tensor& tensor) {
                         names.emplace_back(name_of(tensor));
                       }),
            std::nullopt);
  EXPECT_EQ(names, (std::vector<std::string>{"g"}));
}

}  // namespace
}  // namespace onnxar::testing
