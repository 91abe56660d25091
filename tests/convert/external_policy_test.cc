// Size, type and site of a tensor decide whether its data is outside the model.
#include "convert/external_policy.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>

#include "support/samples.h"

namespace onnxar::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

SaveOptions saving_from(std::uint64_t threshold) { return {.threshold = threshold}; }

/// The names of the tensors that move if each has `size` bytes of data.
std::set<std::string> moved(const ExternalPolicy& policy, const Message& model, std::uint64_t size) {
  std::set<std::string> names;
  onnx::walk_tensors(model.view(), [&](const onnx::TensorSite& site) {
    if (policy.is_external(site, size)) names.emplace(site.tensor.name);
  });
  return names;
}

bool is_external(const ExternalPolicy& policy, const Message& tensor, std::uint64_t size) {
  return moved(policy, model_of({tensor}), size).size() == 1;
}

/// A tensor at each kind of site, named after it.
Message all_kinds() {
  const auto t = [](std::string_view name) { return tensor(name, dtype::float32, {1}).message(); };
  const auto sparse = [&](const std::string& name) { return sparse_tensor(t(name), t("indices"), {9}); };
  const Message attributes = node("Op", {}, {},
                                  {attribute_t("t", t("attribute")), attribute_tensors("many", {t("many")}),
                                   attribute_sparse_tensor("s", sparse("sparse_attribute"))});
  return model(
      {.graph = graph(
           {.nodes = {attributes}, .initializers = {t("initializer")}, .sparse_initializers = {sparse("sparse")}}),
       .functions = {function(
           {.nodes = {constant("y", t("in_function"))}, .attribute_protos = {attribute_t("d", t("default"))}})},
       .training = {training_info(graph({.initializers = {t("training")}}), graph({}))}});
}

TEST(ExternalPolicy, InlineModelsKeepEverything) {
  EXPECT_THAT(moved(ExternalPolicy::everything_inline(), all_kinds(), 1U << 30U), IsEmpty());
  SaveOptions inside = saving_from(0);
  inside.format = Format::onnx_inline;
  inside.all_sites = true;
  EXPECT_THAT(moved(ExternalPolicy::of(inside), all_kinds(), 1U << 30U), IsEmpty());
}

TEST(ExternalPolicy, InitializersAndAttributesMoveWhereverTheyAre) {
  EXPECT_THAT(moved(ExternalPolicy::of(SaveOptions()), all_kinds(), 4096),
              ElementsAre("attribute", "in_function", "initializer", "many"));
}

TEST(ExternalPolicy, AttributesStayIfAskedTo) {
  EXPECT_THAT(moved(ExternalPolicy::of(SaveOptions{.attributes = false}), all_kinds(), 4096),
              ElementsAre("initializer"));
}

TEST(ExternalPolicy, AllSitesAreAllButIndices) {
  const auto all = ElementsAre("attribute", "default", "in_function", "initializer", "many", "sparse",
                               "sparse_attribute", "training");
  EXPECT_THAT(moved(ExternalPolicy::of(SaveOptions{.all_sites = true}), all_kinds(), 4096), all);
  EXPECT_THAT(moved(ExternalPolicy::of(LoadOptions()), all_kinds(), 4096), all);
}

TEST(ExternalPolicy, TheThresholdIsTheSmallestThatMoves) {
  const Message t = tensor("w", dtype::float32, {1});
  EXPECT_FALSE(is_external(ExternalPolicy::of(SaveOptions()), t, 1023));
  EXPECT_TRUE(is_external(ExternalPolicy::of(SaveOptions()), t, 1024));
  EXPECT_FALSE(is_external(ExternalPolicy::of(LoadOptions()), t, 1023));
  EXPECT_TRUE(is_external(ExternalPolicy::of(LoadOptions()), t, 1024));
  EXPECT_TRUE(is_external(ExternalPolicy::of(saving_from(1)), t, 1));
  EXPECT_FALSE(is_external(ExternalPolicy::of(saving_from(1ULL << 40U)), t, (1ULL << 40U) - 1));
}

TEST(ExternalPolicy, NoBytesNeverMove) {
  EXPECT_FALSE(is_external(ExternalPolicy::of(saving_from(0)), tensor("w", dtype::float32, {0}), 0));
}

TEST(ExternalPolicy, StringsAndSegmentsNeverMove) {
  EXPECT_FALSE(is_external(ExternalPolicy::of(saving_from(0)), tensor("w", dtype::string, {1}), 1U << 20U));
  EXPECT_FALSE(
      is_external(ExternalPolicy::of(saving_from(0)), tensor("w", dtype::float32, {1}).segment(0, 1), 1U << 20U));
}

TEST(ExternalPolicy, SmallWholeNumbersStayAtAnyThreshold) {
  for (const std::uint64_t type : {dtype::int32, dtype::int64}) {
    EXPECT_FALSE(is_external(ExternalPolicy::of(saving_from(0)), tensor("w", type, {1}), 1023)) << type;
    EXPECT_TRUE(is_external(ExternalPolicy::of(saving_from(0)), tensor("w", type, {1}), 1024)) << type;
    EXPECT_FALSE(is_external(ExternalPolicy::of(saving_from(4096)), tensor("w", type, {1}), 2048)) << type;
  }
  for (const std::uint64_t type : {dtype::uint32, dtype::int16, dtype::uint64, dtype::boolean, std::uint64_t{99}}) {
    EXPECT_TRUE(is_external(ExternalPolicy::of(saving_from(0)), tensor("w", type, {1}), 1)) << type;
  }
}

}  // namespace
}  // namespace onnxar::testing
