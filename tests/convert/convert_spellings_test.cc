// However a tensor is spelt on the wire: it comes back byte for byte, or the report counts it.
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <vector>

#include "onnxar/convert.h"
#include "support/samples.h"

namespace onnxar::testing {
namespace {

class Spellings : public ::testing::Test {
 protected:
  /// The output of converting a file with these bytes.
  [[nodiscard]] Blob converted(const Blob& input, Format format) {
    const std::filesystem::path path = folder_.write_file("in", input);
    std::filesystem::remove(folder_ / "out");
    report_ = pack_or_unpack(path, folder_ / "out", saved_as(format));
    return folder_.read_file("out");
  }

  TempDir folder_;
  ConvertReport report_;
};

TEST_F(Spellings, ComesBackByteForByteOrIsReported) {
  const Blob data = pattern(4096);
  constexpr std::uint32_t raw_data = tensor_field::raw_data;
  const TensorBuilder w = tensor("w", dtype::int8, {4096}).raw_data(data).doc_string("d");
  const auto as_raw = [&](const Message& wire) { return TensorBuilder(w).without(raw_data).field(raw_data, wire); };
  const Message padded = Message().padded_length_message(graph_field::initializer, w, 4);
  const auto whole = [](const Message& tensor) { return model_of({floats("first", 300), tensor}); };
  const struct {
    Message model;
    bool comes_back = false;
  } spellings[] = {
      {whole(w), true},
      {whole(TensorBuilder(w).packed_dims()), true},
      {whole(TensorBuilder(w).data_location(0)), true},  // as PyTorch and quantizers of ONNX Runtime write it
      {whole(TensorBuilder(w).data_location(0).metadata("k", "v")), true},
      {whole(TensorBuilder(w).data_location(0).data_location(0)), true},
      {whole(TensorBuilder(w).data_location(1ULL << 32U)), true},
      {whole(TensorBuilder(w).data_location(2)), true},  // not a value of the schema
      {whole(TensorBuilder(w).data_location(1).data_location(0)), false},
      {whole(TensorBuilder(w).data_location(0).order({tensor_field::data_location})), false},
      {whole(TensorBuilder(w).order({raw_data})), false},
      {whole(TensorBuilder(w).raw_data(data)), false},
      {whole(TensorBuilder(w).external_data("location", "stale")), false},
      {whole(TensorBuilder(w).float_data({})), false},
      {whole(as_raw(Message().padded_length_bytes(raw_data, data, 5))), false},
      {whole(as_raw(Message().padded_tag(raw_data, wire_type::length, 3).raw_varint(4096).raw(data))), false},
      {whole(TensorBuilder(w).without(raw_data).int32_data(std::vector<std::int32_t>(4096, 1))), false},
      {model({.graph = Message().raw(graph({.initializers = {floats("first", 300)}})).raw(padded)}), false},
  };
  std::size_t at = 0;
  for (const auto& [model, comes_back] : spellings) {
    ++at;
    const Blob archive = converted(model.view(), Format::archive);
    EXPECT_EQ(report_.tensors_outside, 2U) << at;
    EXPECT_EQ(report_.reencoded + report_.typed_made_raw, comes_back ? 0U : 1U) << at;
    EXPECT_TRUE(!comes_back || converted(archive, Format::onnx_inline) == model.view()) << at;
    EXPECT_TRUE(converted(archive, Format::archive) == archive) << at;
  }
}

}  // namespace
}  // namespace onnxar::testing
