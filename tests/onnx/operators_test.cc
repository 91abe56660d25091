// Operators of nodes on the wire, and the two spellings of the default domain.
#include "onnx/operators.h"

#include <gtest/gtest.h>

#include "support/wire_builder.h"

namespace onnxar::testing {
namespace {

TEST(Domains, DefaultHasTwoSpellings) {
  using onnx::canonical_domain, onnx::domain_name, onnx::is_default_domain;
  static_assert(is_default_domain("") && is_default_domain("ai.onnx"));
  static_assert(!is_default_domain("ai.onnx.ml") && !is_default_domain("AI.ONNX"));
  EXPECT_EQ(canonical_domain("ai.onnx"), "");
  EXPECT_EQ(canonical_domain("ai.onnx.ml"), "ai.onnx.ml");
  EXPECT_EQ(domain_name(""), "ai.onnx");
  EXPECT_EQ(domain_name("com.microsoft"), "com.microsoft");
}

TEST(Operators, AreReadFromTheNode) {
  const auto is_constant = [](const Message& node) { return onnx::is_constant(node.view(), {0, node.size()}); };
  EXPECT_TRUE(is_constant(node("Constant", {}, {"y"})));
  EXPECT_TRUE(is_constant(node("Constant", {}, {"y"}, {}, "ai.onnx")));
  EXPECT_FALSE(is_constant(node("Constant", {}, {"y"}, {}, "other")));
  EXPECT_FALSE(is_constant(node("constant", {}, {"y"})));
  const Message scan = node("Scan", {"x"}, {"y"}, {}, "d");
  EXPECT_EQ(onnx::op_type_of(scan.view(), {0, scan.size()}), "Scan");
  EXPECT_EQ(onnx::domain_of(scan.view(), {0, scan.size()}), "d");
}

TEST(Operators, DamagedNodeHasNone) {
  const Message broken = Message().raw(blob("\xff"));
  EXPECT_EQ(onnx::op_type_of(broken.view(), {0, broken.size()}), "");
  EXPECT_EQ(onnx::domain_of(broken.view(), {0, broken.size()}), "");
}

}  // namespace
}  // namespace onnxar::testing
