// Sites are short for all names and depths.
#include "onnx/site_text.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "onnx/sites.h"
#include "support/wire_builder.h"

namespace onnxar::testing {
namespace {

/// All sites of a model in the order of the walk.
std::vector<std::string> sites_of(const Message& model) {
  std::vector<std::string> paths;
  onnx::walk_tensors(model.view(), [&](const onnx::TensorSite& site) { paths.push_back(site.path()); });
  return paths;
}

Message small_tensor(std::string_view name) { return tensor(name, dtype::float32, {1}).raw_data(pattern(4)); }

/// A tensor in an attribute of this name.
Message model_with_attribute(const std::string& name) {
  return model({.graph = graph({.nodes = {node("Op", {}, {}, {attribute_t(name, small_tensor("w"))})}})});
}

TEST(SiteText, LongAttributeNameIsReplacedByItsNumber) {
  EXPECT_EQ(sites_of(model_with_attribute(std::string(64, 'n'))).front(), "graph.node[0].attr." + std::string(64, 'n'));
  EXPECT_EQ(sites_of(model_with_attribute(std::string(65, 'n'))).front(), "graph.node[0].attribute[0]");
  EXPECT_EQ(sites_of(model_with_attribute(std::string(1'000'000, 'n'))).front(), "graph.node[0].attribute[0]");
}

TEST(SiteText, SitesAtAnyDepthAreShortAndDiffer) {
  Message inner = graph({.initializers = {small_tensor("a"), small_tensor("b")}});
  const std::string name(64, 'n');
  for (int i = 0; i < 30; ++i) {
    inner = graph(
        {.nodes = {node("If", {}, {}, {attribute_g(name, inner)}), node("If", {}, {}, {attribute_g(name, graph({}))})},
         .initializers = {small_tensor("c")}});
  }
  const std::vector<std::string> paths = sites_of(model({.graph = inner}));
  ASSERT_EQ(paths.size(), 32U);
  for (const std::string& path : paths) EXPECT_LE(path.size(), onnx::longest_site) << path;
  EXPECT_EQ(std::set<std::string>(paths.begin(), paths.end()).size(), paths.size());
  EXPECT_EQ(paths.front().substr(0, 20), "graph.node[0].attr.n");
  EXPECT_TRUE(paths.front().ends_with(".initializer[0]")) << paths.front();
}

TEST(SiteText, AStepIsAddedAsItIsWhileThereIsRoom) {
  std::string site;
  onnx::append_step(site, ".graph");
  onnx::append_step(site, ".node[3]");
  onnx::append_step(site, "");
  onnx::append_step(site, "[2]");
  EXPECT_EQ(site, "graph.node[3][2]");
  std::string without_dot;
  onnx::append_step(without_dot, "graph");
  onnx::append_step(without_dot, ".node");
  EXPECT_EQ(without_dot, "graph.node");
}

TEST(SiteText, StepMayFillTheLongestSite) {
  const std::string site(onnx::longest_site - 3, 'n');
  std::string full = site, longer = site;
  onnx::append_step(full, "[2]");
  EXPECT_EQ(full, site + "[2]");
  onnx::append_step(longer, "[10]");
  EXPECT_EQ(longer.substr(0, 101), std::string(100, 'n') + "~");
  EXPECT_TRUE(longer.ends_with("[10]"));
}

TEST(SiteText, WhatIsCutOffLeavesItsHash) {
  const std::string step(onnx::longest_site, 's');
  const auto after = [&step](std::string site) {
    onnx::append_step(site, step);
    return site;
  };
  EXPECT_EQ(after("foobar"), "foobar~85944171f73967e8" + step) << "a published value of FNV-1a with 64 bits";
  EXPECT_EQ(after(std::string(101, 'n')).substr(0, 101), std::string(100, 'n') + "~");
}

}  // namespace
}  // namespace onnxar::testing
