// Sums of the tensors of a model: by type and site, parameters and statistics, and the largest.
#include "inspect/tensor_sums.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "inspect/inspecting.h"
#include "model/front_end.h"
#include "support/model_samples.h"

namespace onnxar::testing {
namespace {

using ::testing::SizeIs;

TEST_F(InspectTest, TensorsAreAddedUpByTypeAndSite) {
  const Message constant_node = constant("c", tensor("", dtype::uint8, {7}).raw_data(Blob(7)));
  const Inspection found = inspected(graph_of({constant_node}, {weight("w", {3, 5}), weight("v", {2})}));
  EXPECT_EQ(found.tensors.tensors, 3U);
  EXPECT_EQ(found.tensors.bytes, 75U);
  EXPECT_EQ(found.parameters, 24U);
  ASSERT_THAT(found.by_type, SizeIs(2));
  EXPECT_EQ(found.by_type[0].first, DataType::float32);
  EXPECT_EQ(found.by_type[0].second.elements, 17U);
  ASSERT_THAT(found.by_site, SizeIs(2));
  EXPECT_EQ(found.by_site[1].first, "attribute");
  EXPECT_EQ(found.largest.front().tensor.name, "w");
}

TEST_F(InspectTest, CountsConstantsAsParameters) {
  const Message value = weight("", {10});
  const Message other = node("Scan", {}, {"s"}, {attribute_t("value", value)});
  EXPECT_EQ(inspected(graph_of({constant("c", value), other})).parameters, 10U);
  const Message norm = node("BatchNormalization", {"x", "s", "b", "mean", "variance"}, {"y"});
  const Inspection found = inspected(graph_of({constant("mean", value), norm}, {weight("variance", {10})}));
  EXPECT_EQ(found.parameters, 0U);
  EXPECT_EQ(found.statistics, 20U);
}

TEST_F(InspectTest, TheTenLargestTensorsAreListed) {
  Messages weights;
  for (std::int64_t size = 1; size <= 12; ++size) weights.push_back(weight("w" + std::to_string(size), {size}));
  const Inspection found = inspected(graph_of({}, weights));
  ASSERT_THAT(found.largest, SizeIs(10));
  EXPECT_EQ(found.largest.front().tensor.name, "w12");
  EXPECT_EQ(found.largest.back().tensor.name, "w3");
}

}  // namespace
}  // namespace onnxar::testing
