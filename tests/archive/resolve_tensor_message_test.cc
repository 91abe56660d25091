// `resolve` and `check_link` for programs without protobuf, which fill in a TensorMessage.
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "archive/opened.h"
#include "onnxar/resolve.h"
#include "support/refusal.h"
#include "support/samples.h"

namespace onnxar::testing {
namespace {

class TensorMessageTest : public ::testing::Test {
 protected:
  [[nodiscard]] TensorMessage message(DataType type = DataType::float32) const {
    return {.name = "t", .type = type, .dims = dims_, .external = false, .raw_data = {}, .external_data = {}};
  }
  [[nodiscard]] TensorMessage holding(Bytes data, DataType type = DataType::float32) const {
    TensorMessage tensor = message(type);
    tensor.raw_data = data;
    return tensor;
  }
  [[nodiscard]] TensorMessage linked(std::string_view offset, std::string_view length) const {
    TensorMessage tensor = message();
    tensor.external = true;
    tensor.external_data = {{"location", "w"}, {"offset", offset}, {"length", length}};
    return tensor;
  }
  [[nodiscard]] std::optional<Blob> data_of(const TensorMessage& tensor) const {
    const auto data = resolve(archive_, tensor);
    return data ? std::optional(copy_of(*data)) : std::nullopt;
  }
  [[nodiscard]] std::optional<Code> refusal(const TensorMessage& tensor) const {
    const auto error = error_if_any([&] { return resolve(archive_, tensor).has_value(); });
    if (!error) return std::nullopt;
    EXPECT_TRUE(error->message().starts_with("tensor \"t\": ")) << error->message();
    EXPECT_EQ(error->offset(), std::nullopt) << "the caller parsed the message";
    return error->code();
  }

  const std::vector<std::int64_t> dims_ = {2};
  const Blob pattern_ = pattern(8);
  const Archive archive_ = opened(built_with({zip_entry("w", pattern(16))}).bytes);
};

TEST_F(TensorMessageTest, HoldsAsManyBytesAsItsShapeOrMore) {
  for (const std::size_t size : {8U, 9U}) EXPECT_EQ(data_of(holding(pattern(size))), pattern(size));
  EXPECT_EQ(refusal(holding(pattern(7))), Code::onnx_tensor_length);
  EXPECT_EQ(refusal(message()), Code::onnx_tensor_length);
  EXPECT_EQ(data_of(holding(pattern(3), static_cast<DataType>(99))), pattern(3)) << "a later type of any size";
}

TEST_F(TensorMessageTest, TypedValuesAreReadByTheCaller) {
  TensorMessage tensor = message();
  tensor.typed_data = true;
  EXPECT_EQ(data_of(tensor), std::nullopt);
  EXPECT_EQ(data_of(message(DataType::string)), std::nullopt);
  tensor.raw_data = pattern_;
  EXPECT_EQ(refusal(tensor), Code::onnx_tensor_data_beside);
}

TEST_F(TensorMessageTest, ExternalDataIsInTheArchive) {
  const Blob weight = pattern(16);
  EXPECT_EQ(data_of(linked("4", "8")), copy_of(Bytes(weight).subspan(4, 8)));
  EXPECT_EQ(refusal(linked("12", "8")), Code::onnx_external_out_of_range);
  EXPECT_EQ(refusal(linked("0", "9")), Code::onnx_tensor_length);
  TensorMessage both = linked("0", "8");
  both.raw_data = pattern_;
  EXPECT_EQ(refusal(both), Code::onnx_external_data_beside);
  both.raw_data.reset();
  both.typed_data = true;
  EXPECT_EQ(refusal(both), Code::onnx_external_data_beside);
  TensorMessage twice = linked("0", "8");
  twice.external_data.emplace_back("offset", "4");
  EXPECT_EQ(refusal(twice), Code::onnx_external_duplicate_key);
}

TEST_F(TensorMessageTest, RefusesImpossibleTypeAndShape) {
  EXPECT_EQ(refusal(holding(pattern_, DataType::undefined)), Code::onnx_tensor_no_type);
  TensorMessage tensor = holding(pattern_);
  const std::vector<std::int64_t> negative = {-1}, huge = {std::int64_t{1} << 62, 1024};
  tensor.dims = negative;
  EXPECT_EQ(refusal(tensor), Code::onnx_tensor_dims);
  tensor.dims = huge;
  EXPECT_EQ(refusal(tensor), Code::onnx_tensor_dims);
}

TEST_F(TensorMessageTest, LinksAreCheckedBeforeTheyAreWritten) {
  const auto fault = [](const TensorMessage& tensor, std::uint64_t length) {
    return code_of([&] {
      check_link(tensor, "w", 0, length);
      return 0;
    });
  };
  EXPECT_EQ(fault(message(), 8), std::nullopt);
  EXPECT_EQ(fault(message(), 9), Code::onnx_tensor_length);
  EXPECT_EQ(fault(message(DataType::undefined), 8), Code::onnx_tensor_no_type);
  EXPECT_EQ(fault(message(DataType::string), 8), Code::onnx_external_string);
}

TEST(ProveModel, RefusesTornModel) {
  EXPECT_NO_THROW(prove_model(opened(smallest_archive().bytes)));
  const Archive torn = opened(archive_of(model({.graph = graph({})}).raw(blob("\xff"))).bytes);
  EXPECT_EQ(code_of([&] {
              prove_model(torn);
              return 0;
            }),
            Code::wire_truncated);
}

TEST(StepInto, AppendsToSiteAndReturnsFormerText) {
  std::string site = "graph";
  EXPECT_EQ(detail::step_into(site, "node", 3, ""), "graph");
  EXPECT_EQ(detail::step_into(site, "attribute", 1, "value"), "graph.node[3]");
  EXPECT_EQ(site, "graph.node[3].attr.value");
}

}  // namespace
}  // namespace onnxar::testing
