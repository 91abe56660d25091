// Totals of each graph of an archive: its weights, what it shares with others, and its parameters.
#include <gtest/gtest.h>

#include <vector>

#include "archive/front_end.h"
#include "archive/opened.h"
#include "onnxar/listing.h"
#include "support/samples.h"

namespace onnxar::testing {
namespace {

std::vector<GraphTotals> totals(const Built& built) {
  const Archive archive = opened(built.bytes);
  return totals_of_graphs(archive, ls(archive));
}

TEST(GraphTotals, ArchiveOfOneGraphHasNone) { EXPECT_TRUE(totals(smallest_archive()).empty()); }

TEST(GraphTotals, CountsSharedWeightsForEachGraph) {
  const Message own = model_of({linked_floats("w", 4, "w"), floats("inside", 3)});
  const Message other = model_of({linked_floats("w", 4, "w"), linked_floats("v", 5, "v")});
  const std::vector<GraphTotals> found = totals(
      archive_of(own, {zip_entry("w", pattern(16)), zip_entry("v", pattern(20)), zip_entry("b.onnx", other.view())}));
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[0].name, "");
  EXPECT_EQ(found[0].model_bytes, own.size());
  EXPECT_EQ(found[0].weight_bytes, 16U);
  EXPECT_EQ(found[0].shared_bytes, 16U);
  EXPECT_EQ(found[0].parameters, 7U);
  EXPECT_EQ(found[1].name, "b");
  EXPECT_EQ(found[1].weight_bytes, 36U);
  EXPECT_EQ(found[1].shared_bytes, 16U);
  EXPECT_EQ(found[1].parameters, 9U);
}

TEST(GraphTotals, BrokenGraphCountsUpToItsFault) {
  const Message bad = Message().string(tensor_field::name, "bad").signed_varint(tensor_field::dims, -1);
  const std::vector<GraphTotals> found =
      totals(archive_of(model_of({floats("a", 2)}), {zip_entry("b.onnx", model_of({floats("c", 3), bad}).view())}));
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[1].parameters, 3U);
}

TEST(GraphTotals, HugeDimensionsDoNotWrapTheSum) {
  const Message huge = tensor("h", dtype::uint8, {INT64_MAX});
  const std::vector<GraphTotals> found =
      totals(archive_of(model_of({}), {zip_entry("b.onnx", model_of({huge, huge, huge}).view())}));
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[1].parameters, UINT64_MAX);
}

Message with_metadata(const GraphParts& parts) {
  return model({.graph = graph(parts), .metadata = {string_entry("onnxar.model.name", "main")}});
}

TEST(GraphTotals, CountsSparseAndConstantValues) {
  const Message sparse = sparse_tensor(floats("s", 3), tensor("", dtype::int64, {3}).int64_data({1, 2, 3}), {9});
  const Message endless = tensor("of a later type", 99, {std::int64_t{1} << 62U, 1024}).raw_data(pattern(1));
  const Message other = node("Op", {}, {"y"}, {attribute_t("value", floats("no parameter", 100))});
  const Message main = with_metadata({.nodes = {constant("c", floats("v", 5)), other},
                                      .initializers = {linked_floats("a", 4, "a"), linked_floats("b", 8, "b"), endless},
                                      .sparse_initializers = {sparse}});
  const Blob second = model_of({linked_floats("b", 8, "b")}).take();
  const Archive archive = opened(
      archive_of(main, {zip_entry("a", pattern(16)), zip_entry("b", pattern(32)), zip_entry("g.onnx", second)}).bytes);
  const std::vector<GraphTotals> totals = totals_of_graphs(archive, ls(archive));
  ASSERT_EQ(totals.size(), 2U);
  EXPECT_EQ(totals[0].name, "main");
  EXPECT_EQ(totals[0].model_bytes, main.size());
  EXPECT_EQ(totals[0].weight_bytes, 48U);
  EXPECT_EQ(totals[0].shared_bytes, 32U);
  EXPECT_EQ(totals[0].parameters, 4U + 8 + 3 + 5);
  EXPECT_EQ(totals[1].name, "g");
  EXPECT_EQ(totals[1].model_bytes, second.size());
  EXPECT_EQ(totals[1].weight_bytes, 32U);
  EXPECT_EQ(totals[1].shared_bytes, 32U);
  EXPECT_EQ(totals[1].parameters, 8U);
}

}  // namespace
}  // namespace onnxar::testing
