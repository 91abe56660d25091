// What models and graphs are refused for.
#include "archive/model_proof.h"

#include <gtest/gtest.h>

#include <cstdint>

#include "support/refusal.h"
#include "support/samples.h"

namespace onnxar::testing {
namespace {

TEST(ModelSize, FitsProtobufBelowTwoGibibytes) {
  EXPECT_TRUE(fits_protobuf(0));
  EXPECT_TRUE(fits_protobuf(0x7fffffff));
  EXPECT_FALSE(fits_protobuf(0x80000000));
  EXPECT_FALSE(fits_protobuf(~std::uint64_t{0}));
}

TEST(OversizeText, SaysHowLargeTheModelIsAndWhatTheLimitIs) {
  EXPECT_EQ(oversize_text("the graph is", 3ULL << 30U),
            "the graph is 3.00 GiB (3221225472 bytes), and protobuf reads less than 2 GiB");
}

TEST(ModelProof, RefusesTensorWithoutTypeInGraphs) {
  const Blob model = model_of({tensor("w", dtype::undefined, {1}).raw_data(pattern(4))}).take();
  EXPECT_EQ(refusal_of([&] { prove_written("g.onnx", model, {}); }),
            (ErrorContext{Code::onnx_tensor_no_type, "g.onnx"}));
  EXPECT_EQ(refusal_of([&] { prove_written(model_entry, model, {}); }), std::nullopt) << "`check` reports it";
}

TEST(ModelProof, RefusesTooFewInlineValuesInGraphs) {
  const Blob model = model_of({tensor("w", dtype::float32, {2}).raw_data(pattern(4))}).take();
  EXPECT_EQ(refusal_of([&] { prove_written("g.onnx", model, {}); }),
            (ErrorContext{Code::onnx_tensor_length, "g.onnx"}));
  EXPECT_EQ(refusal_of([&] { prove_written(model_entry, model, {}); }), std::nullopt) << "`check` reports it";
}

}  // namespace
}  // namespace onnxar::testing
