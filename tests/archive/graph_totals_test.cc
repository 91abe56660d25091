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

}  // namespace
}  // namespace onnxar::testing
