// Shapes of the values in a graph: broadcasts, attributes of calls, and small tensors of integers.
#include "inspect/shapes.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <optional>
#include <vector>

#include "inspect/inferring.h"

namespace onnxar::testing {
namespace {

TEST(Broadcast, FollowsNumPy) {
  EXPECT_EQ(broadcast({4, 1}, {5}), (Shape{4, 5}));
  EXPECT_EQ(broadcast({}, {2, 3}), (Shape{2, 3}));
  EXPECT_EQ(broadcast({1}, {0}), (Shape{0}));
  EXPECT_EQ(broadcast({2, 3}, {3, 2}), std::nullopt);
  EXPECT_EQ(sizes_text(broadcast({Size(), 3}, {5, 1}).value()), "5,3") << "5, as a dimension of 1 is broadcast, too";
  EXPECT_EQ(sizes_text(broadcast({Size()}, {1}).value()), "?");
}

TEST(ShapeOf, DimensionsBelowZeroAreUnknown) {
  const std::vector<std::int64_t> dims = {2, -1, 0};
  EXPECT_EQ(sizes_text(shape_of(dims).value()), "2,?,0");
  EXPECT_EQ(sizes_text({elements({2, 3, 4})}), "24");
  EXPECT_EQ(sizes_text({elements({INT64_MAX, 2})}), "?");
}

TEST(SmallIntegers, AreReadFromEveryFieldOfData) {
  const auto read = [](const Message& message) {
    const auto values = small_integers(parsed<schema::TensorProto>(message));
    return values ? sizes_text(*values) : "none";
  };
  EXPECT_EQ(read(integer_tensor("s", {2, -1})), "2,-1");
  EXPECT_EQ(read(tensor("s", dtype::int64, {1}).raw_data(Blob(8))), "0");
  EXPECT_EQ(read(tensor("s", dtype::int64, {2}).raw_data(Blob(8))), "none");
  EXPECT_EQ(read(linked_floats("s", 2, "w")), "none");
}

TEST(Attributes, ReferenceLeadsToTheCall) {
  const schema::NodeProto call = parsed<schema::NodeProto>(node("F", {}, {}, {attribute_i("outer", 7)}));
  const schema::NodeProto inner = parsed<schema::NodeProto>(
      node("Gemm", {}, {}, {Message().string(1, "transB").string(21, "outer").varint(20, 2)}));
  Budget budget(1000);
  const Attributes of_call(call, nullptr, budget), of_inner(inner, &of_call, budget);
  EXPECT_EQ(of_inner.integer("transB", 0), 7);
  EXPECT_EQ(of_inner.integer("missing", 3), 3);
  EXPECT_EQ(Attributes(inner, nullptr, budget).integer("transB", 3), 3);
}

}  // namespace
}  // namespace onnxar::testing
