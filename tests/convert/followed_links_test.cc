// The cost of telling which tensors runtimes read external data for.
#include "convert/followed_links.h"

#include <gtest/gtest.h>

#include "support/samples.h"

namespace onnxar::testing {
namespace {

struct Answers {
  std::uint64_t yes = 0, no = 0, nodes_read = 0;
  bool operator==(const Answers&) const = default;
};

Answers ask(const Messages& nodes) {
  const Message message = model({.graph = graph({.nodes = nodes})});
  FollowedLinks links;
  Answers answers;
  onnx::walk_tensors(message.view(),
                     [&](const onnx::TensorSite& site) { ++(links.follows(site) ? answers.yes : answers.no); });
  answers.nodes_read = links.nodes_read();
  return answers;
}

const Message held = linked_floats("w", 300, "w");

TEST(FollowedLinks, NodeIsReadOnceForAllItsTensors) {
  EXPECT_EQ(ask({node("Other", {}, {"a"}, {attribute_tensors("many", Messages(1000, held))})}), (Answers{0, 1000, 1}));
  EXPECT_EQ(ask({node("Other", {}, {"a"}, Messages(1000, attribute_t("t", held)))}), (Answers{0, 1000, 1}));
}

TEST(FollowedLinks, NodeIsNotReadAgainAfterTheNodesWithinIt) {
  const Message inner = node("Constant", {}, {"c"}, {attribute_t("value", held)});
  Messages attributes;
  for (int i = 0; i < 100; ++i) {
    attributes.push_back(attribute_t("t", held));
    attributes.push_back(attribute_g("g", graph({.nodes = {inner}, .initializers = {held}})));
  }
  EXPECT_EQ(ask({node("Other", {}, {"a"}, attributes)}), (Answers{200, 100, 101}));
}

TEST(FollowedLinks, EachNodeIsReadForItself) {
  const Message constant = node("Constant", {}, {"c"}, {attribute_t("value", held)});
  const Message other = node("Other", {}, {"c"}, {attribute_t("value", held)});
  EXPECT_EQ(ask({constant, other, constant}), (Answers{2, 1, 3}));
}

}  // namespace
}  // namespace onnxar::testing
