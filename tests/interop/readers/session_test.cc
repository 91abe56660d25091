// Archives in ONNX Runtime as its users get it: each way computes what the inline model computes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "interop/readers/running.h"
#include "interop/readers/sessions.h"
#include "onnx/typed_data.h"
#include "onnxar/archive.h"
#include "onnxar/convert.h"
#include "onnxar/onnx.pb.h"
#include "onnxar/onnxruntime.h"
#include "support/temp_dir.h"
#include "support/wire_builder.h"

namespace onnxar::testing {
namespace {

namespace fs = std::filesystem;

// --- Equal outputs ---------------------------------------------------------------------------------------------------

TEST_F(SessionTest, TransformerComputesTheSame) {
  const fs::path model = folder_ / "transformer.onnx";
  const std::string command = std::string(ONNXAR_PYTHON) + " -B " + ONNXAR_SOURCE_DIR +
                              "/examples/make_transformer.py --megabytes 3 " + model.string() + " > /dev/null";
  ASSERT_EQ(std::system(command.c_str()), 0);
  const std::vector<std::int64_t> tokens = {0, 7, 200, 3, 3, 42, 255, 1};
  const Bytes bytes = std::as_bytes(std::span(tokens));
  const Tensors inputs = {{"tokens", {ONNX_TENSOR_ELEMENT_DATA_TYPE_INT64, {2, 4}, Blob(bytes.begin(), bytes.end())}}};
  expect_equal_outputs(model, inputs);
  EXPECT_GT(report_.payloads, 50U);
}

/// What stands in a file `input_0.pb`; nothing where it is no tensor of numbers.
std::optional<Tensor> read_tensor(const fs::path& path) {
  if (!fs::exists(path)) return std::nullopt;
  const Blob bytes = read_file(path);
  schema::TensorProto proto;
  if (!proto.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) return std::nullopt;
  Tensor tensor{
      static_cast<ONNXTensorElementDataType>(proto.data_type()), {proto.dims().begin(), proto.dims().end()}, {}};
  const auto take = [&tensor](Bytes piece) { tensor.bytes.insert(tensor.bytes.end(), piece.begin(), piece.end()); };
  if (proto.has_raw_data()) {
    take(as_bytes(proto.raw_data()));
  } else {
    const auto source = onnx::typed_data_source(bytes, onnx::read_tensor(bytes, {0, bytes.size()}));
    if (!source) return std::nullopt;
    source->read(take);
  }
  return tensor;
}

bool is_tensor_of_numbers(const Ort::TypeInfo& type) {
  return type.GetONNXType() == ONNX_TYPE_TENSOR &&
         type.GetTensorTypeAndShapeInfo().GetElementType() != ONNX_TENSOR_ELEMENT_DATA_TYPE_STRING;
}

/// The inputs that come with a model of ONNX's own tests; nothing where not all of inputs and outputs are tensors of
/// numbers.
std::optional<Tensors> inputs_of(const fs::path& model, const Ort::Session& session) {
  for (std::size_t i = 0; i < session.GetOutputCount(); ++i) {
    if (!is_tensor_of_numbers(session.GetOutputTypeInfo(i))) return std::nullopt;
  }
  Tensors inputs;
  for (const std::string& name : session.GetInputNames()) {
    const std::string file = "test_data_set_0/input_" + std::to_string(inputs.size()) + ".pb";
    const bool can_be_given = is_tensor_of_numbers(session.GetInputTypeInfo(inputs.size()));
    const auto tensor = can_be_given ? read_tensor(model.parent_path() / file) : std::nullopt;
    if (!tensor) return std::nullopt;
    inputs[name] = *tensor;
  }
  return inputs;
}

std::vector<fs::path> models_of_onnx() {
  const fs::path folder = "/usr/share/libonnx-testdata/data";
  std::vector<fs::path> models;
  if (!fs::is_directory(folder)) return models;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    if (entry.path().extension() == ".onnx") models.push_back(entry.path());
  }
  std::ranges::sort(models);
  return models;
}

TEST_F(SessionTest, OnnxTestModelsComputeTheSame) {
  const std::vector<fs::path> models = models_of_onnx();
  if (models.empty()) GTEST_SKIP() << "libonnx-testdata is not installed";
  std::size_t compared = 0;
  std::vector<std::string> left_out;
  for (const fs::path& model : models) {
    SCOPED_TRACE(model);
    packed(model);
    if (report_.payloads == 0) continue;
    std::optional<Tensors> inputs;
    try {
      inputs = inputs_of(model, Ort::Session(env(), model.c_str(), plain_options()));
    } catch (const Ort::Exception& error) {
      left_out.push_back(model.string() + ": " + error.what());  // nor need it take an archive of it
      continue;
    }
    if (!inputs) {
      left_out.push_back(model.string() + ": not all inputs and outputs are tensors of numbers");
      continue;
    }
    expect_equal_outputs(model, *inputs);
    ++compared;
  }
  std::cout << compared << " models compared\n";
  for (const std::string& line : left_out) std::cout << "left out: " << line << '\n';
  EXPECT_GE(compared, 75U);
}

TEST_F(SessionTest, PlainModelsAreNoLinksAndLoad) {
  const Message model = testing::model(
      {.graph = graph({.nodes = {node("Add", {"x", "w"}, {"y"})},
                       .initializers = {tensor("w", dtype::float32, {2}).raw_data(numbers({2}, 5).bytes)},
                       .inputs = {value_info("x", dtype::float32, {2})},
                       .outputs = {value_info("y", dtype::float32, {2})}})});
  const fs::path path = folder_.write_file("m.onnx", model.view());
  Ort::Session session = ort::session_from_link(env(), path, plain_options());
  EXPECT_EQ(run(session, {{"x", numbers({2}, 1)}}).at("y").shape, std::vector<std::int64_t>{2});
}

// --- Large tensors ---------------------------------------------------------------------------------------------------

class LargeTensorSlow : public SessionTest {};

/// A model that picks bytes of a tensor that no ModelProto can hold, in a file that is mostly a hole.
TEST_F(LargeTensorSlow, BeyondTwoGibibytesIsUsedInPlace) {
  constexpr std::int64_t size = (2LL << 30) + (64LL << 20);
  const fs::path archive = folder_ / "large.onnxar";
  const std::string script = "from support.sparse_archive import *; write_sparse_archive(Path('" + archive.string() +
                             "'), 1, " + std::to_string(size) + ")";
  const std::string command =
      std::string("PYTHONPATH=") + ONNXAR_SOURCE_DIR + "/tests " + ONNXAR_PYTHON + " -B -c \"" + script + "\"";
  ASSERT_EQ(std::system(command.c_str()), 0);
  const Message model =
      testing::model({.graph = graph({.nodes = {node("Gather", {"w0", "x"}, {"y"})},
                                      .initializers = {tensor("w0", dtype::uint8, {size}).external("w0", 0, size)},
                                      .inputs = {value_info("x", dtype::int64, {3})},
                                      .outputs = {value_info("y", dtype::uint8, {3})}})});
  onnxar::replace(archive, folder_.write_file("m.onnx", model.view()), unsynced_edit());

  Tensor indices{ONNX_TENSOR_ELEMENT_DATA_TYPE_INT64, {3}, {}};
  std::fstream file(archive, std::ios::binary | std::ios::in | std::ios::out);
  const Archive opened = Archive::open(archive);
  const auto begin = static_cast<std::int64_t>(opened.locate(*opened.find("w0")).offset);
  for (const auto& [at, mark] : {std::pair(std::int64_t{0}, 'a'), std::pair(size / 2, 'b'), std::pair(size - 1, 'c')}) {
    const Bytes bytes = std::as_bytes(std::span(&at, 1));
    indices.bytes.insert(indices.bytes.end(), bytes.begin(), bytes.end());
    file.seekp(begin + at).put(mark);
  }
  file.close();
  for (const Way& way : {ways().at(0), ways().at(1)}) {
    Ort::Session session = way.session(archive, plain_options());
    EXPECT_EQ(text_of(run(session, {{"x", indices}}).at("y").bytes), "abc") << way.name;
  }
}

}  // namespace
}  // namespace onnxar::testing
