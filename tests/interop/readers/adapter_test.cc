// Adapters of ONNX Runtime as side files of an archive.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "interop/readers/running.h"
#include "onnxar/archive.h"
#include "onnxar/convert.h"
#include "onnxar/onnxruntime.h"
#include "support/refusal.h"
#include "support/temp_dir.h"
#include "support/wire_builder.h"

namespace onnxar::testing {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t width = 4;

/// y = x + x lora_a lora_b, whose matrices are empty unless an adapter gives them two columns and rows.
Message model_with_adapter() {
  const auto input = [](const char* name, std::int64_t rows, std::int64_t columns) {
    return value_info(name, dtype::float32, {rows, columns});
  };
  return model(
      {.graph = graph({.nodes = {node("MatMul", {"x", "lora_a"}, {"d"}), node("MatMul", {"d", "lora_b"}, {"e"}),
                                 node("Add", {"x", "e"}, {"y"})},
                       .initializers = {tensor("lora_a", dtype::float32, {width, 0}).raw_data(Blob()),
                                        tensor("lora_b", dtype::float32, {0, width}).raw_data(Blob())},
                       .inputs = {input("x", 1, width), input("lora_a", width, -1), input("lora_b", -1, width)},
                       .outputs = {input("y", 1, width)}})});
}

class AdapterTest : public ::testing::Test {
 protected:
  void SetUp() override {
    SaveOptions save = {.output = {.sync = false}};
    save.add.push_back(
        {"scale.onnx_adapter", fs::path(ONNXAR_SOURCE_DIR) / "tests/interop/readers/scale.onnx_adapter"});
    pack(folder_.write_file("m.onnx", model_with_adapter().view()), path(), save);
  }
  [[nodiscard]] fs::path path() const { return folder_ / "m.onnxar"; }
  static std::vector<float> output(const Tensors& tensors) {
    const Blob& bytes = tensors.at("y").bytes;
    std::vector<float> values(bytes.size() / sizeof(float));
    std::memcpy(values.data(), bytes.data(), bytes.size());
    return values;
  }

  TempDir folder_;
};

TEST_F(AdapterTest, AdapterOfOnnxRuntimesToolIsUsedInPlace) {
  Ort::Session session = ort::session_from_archive(env(), path(), plain_options());
  Ort::RunOptions with_adapter;
  auto archive = std::make_unique<Archive>(Archive::open(path()));
  const Ort::LoraAdapter adapter = ort::adapter_from_archive(*archive, "scale.onnx_adapter");
  archive.reset();  // the adapter has what it needs
  with_adapter.AddActiveLoraAdapter(adapter);
  const Tensor x = floats_of({1, width}, {0, 1, 2, 3});
  EXPECT_EQ(output(run(session, {{"x", x}})), (std::vector<float>{0, 1, 2, 3}));
  // lora_a is all ones and lora_b all twos, so each output gains 2 * 2 * (0 + 1 + 2 + 3).
  EXPECT_EQ(output(run(session, {{"x", x}}, with_adapter)), (std::vector<float>{24, 25, 26, 27}));
}

TEST_F(AdapterTest, MissingOrDamagedAdapterIsRefused) {
  EXPECT_EQ(code_of([&] { ort::adapter_from_archive(Archive::open(path()), "none.onnx_adapter"); }),
            Code::usage_no_such_entry);
  const Archive whole = Archive::open(path());
  Blob bytes = read_file(path());
  bytes[whole.locate(*whole.find("scale.onnx_adapter")).offset + 100] ^= std::byte{1};
  EXPECT_EQ(code_of([&] { ort::adapter_from_archive(Archive::open(bytes, nullptr), "scale.onnx_adapter"); }),
            Code::zip_data_crc);
}

}  // namespace
}  // namespace onnxar::testing
