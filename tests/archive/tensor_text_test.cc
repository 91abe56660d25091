// The text that messages have about tensors: names are quoted, sites are named, lists end.
#include "archive/tensor_text.h"

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "support/samples.h"

namespace onnxar::testing {
namespace {

/// Calls `use` with the only tensor of the model.
void with_site(const Message& model, const std::function<void(const onnx::TensorSite&)>& use) {
  onnx::walk_tensors(model.view(), use);
}

TEST(Describe, EscapesNameAndNamesSite) {
  with_site(model_of({floats("a\nb", 3)}), [](const onnx::TensorSite& site) {
    EXPECT_EQ(describe(site), R"(tensor "a\x0ab" (graph.initializer[0]))");
  });
  with_site(model({.graph = graph({.nodes = {constant("c", floats("", 3))}})}), [](const onnx::TensorSite& site) {
    EXPECT_EQ(describe(site), R"(tensor "" (graph.node[0].attr.value))");
    EXPECT_EQ(info_of(site).output, "c");
  });
}

TEST(AmbiguousTensor, ListsSitesAndSaysWhenThereAreMore) {
  const std::vector<std::string> sites = {"graph.initializer[0]", "graph.node[1].attr.value"};
  const Error all = ambiguous_tensor("w", 2, "name a site", sites);
  EXPECT_EQ(all.code(), Code::usage_ambiguous_tensor);
  EXPECT_EQ(all.message(), "2 tensors match \"w\"; name a site: graph.initializer[0], graph.node[1].attr.value");
  EXPECT_EQ(ambiguous_tensor("w", 3, "name a site", sites).message(), "3" + all.message().substr(1) + ", ...");
}

TEST(NoData, WarnsOfALinkThatIsNotFollowed) {
  with_site(model_of({tensor("w", dtype::float32, {3})}), [](const onnx::TensorSite& site) {
    const Finding finding = no_data(site, {"e", 7});
    EXPECT_EQ(finding.severity, Severity::warning);
    EXPECT_EQ(finding.code, Code::onnx_tensor_no_data);
    EXPECT_EQ(finding.place.entry, "e");
    EXPECT_EQ(finding.place.offset, 7U);
    EXPECT_NE(finding.message.find("12 bytes"), std::string::npos) << finding.message;
    EXPECT_EQ(finding.message.find("link"), std::string::npos) << finding.message;
  });
  with_site(model_of({linked_floats("w", 3, "w.bin").data_location(0)}), [](const onnx::TensorSite& site) {
    EXPECT_NE(no_data(site, {}).message.find("its link to \"w.bin\" counts only if"), std::string::npos);
  });
}

}  // namespace
}  // namespace onnxar::testing
