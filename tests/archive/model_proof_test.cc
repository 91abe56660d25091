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

TEST(ModelProof, RefusesOnlyGraphsForTheirSize) {
  const Blob begin(1);  // no tag, so nothing after it is read
  const Bytes two_gibibytes(begin.data(), std::size_t{1} << 31U);
  EXPECT_EQ(code_of([&] { prove_model_entry("g.onnx", two_gibibytes, {}); }), Code::archive_model_too_large);
  EXPECT_EQ(code_of([&] { prove_model_entry(model_entry, two_gibibytes, {}); }), Code::wire_tag);
}

TEST(ModelProof, AdvisesToAddMissingEntryOfModel) {
  const Blob model = model_of({linked_floats("w", 4, "none")}).take();
  const auto hint = [&model](std::string_view name) {
    const auto error = error_if_any([&] { prove_written(name, model, {}); });
    expect_error(error, {.code = Code::onnx_external_missing, .entry = name});
    return error->advice().hint;
  };
  EXPECT_EQ(hint(model_entry), Hint::add_entry_first);
  EXPECT_EQ(hint("g.onnx"), Hint::none);
}

/// States a size, and has no bytes.
class Oversized final : public ByteSource {
 public:
  [[nodiscard]] std::uint64_t size() const override { return 0x80000000; }
  void read(const ByteSink& /*sink*/) const override { ADD_FAILURE() << "it is too large to be read"; }
};

TEST(BytesOfGraph, RefusesTwoGibibytesBeforeReadingThem) {
  const Oversized source;
  EXPECT_EQ(refusal_of([&] { return bytes_of_graph("g.onnx", source).size(); }),
            (ErrorContext{Code::archive_model_too_large, "g.onnx"}));
}

}  // namespace
}  // namespace onnxar::testing
