// Measures models in memory: loading without reading the weights, and gathering weights in one buffer.
#include <benchmark/benchmark.h>

#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "base/parallel.h"
#include "onnx/fields.h"
#include "onnx/wire.h"
#include "onnxar/model/model.h"

namespace onnxar {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t mib = 1 << 20;
constexpr std::size_t large_tensor = 4U << 20U;

/// An inline model of `size` bytes in tensors of 4 MiB. Its weights are holes in the file, which take no room on the
/// disk and should never be read.
class SparseModel {
 public:
  explicit SparseModel(std::int64_t size) : path_(fs::temp_directory_path() / "onnxar_model_bench_sparse.onnx") {
    const auto tensors = static_cast<std::size_t>(size) / large_tensor;
    const std::string front = head();
    std::string begin;
    std::string field;
    onnx::append_tag(field, onnx::graph_field::initializer, onnx::Type::length_delimited);
    onnx::append_varint(field, front.size() + large_tensor);
    field += front;
    onnx::append_tag(begin, onnx::model_field::graph, onnx::Type::length_delimited);
    onnx::append_varint(begin, tensors * (field.size() + large_tensor));
    std::ofstream out(path_, std::ios::binary);
    out << begin;
    for (std::size_t i = 0; i < tensors; ++i) {
      out << field;
      out.seekp(static_cast<std::streamoff>(large_tensor), std::ios::cur);
    }
    out.close();
    fs::resize_file(path_, begin.size() + tensors * (field.size() + large_tensor));
  }
  SparseModel(const SparseModel&) = delete;
  SparseModel& operator=(const SparseModel&) = delete;
  ~SparseModel() { fs::remove(path_); }

  [[nodiscard]] const fs::path& path() const { return path_; }

 private:
  /// The bytes of a tensor before its data.
  static std::string head() {
    std::string out;
    onnx::append_varint_field(out, onnx::tensor_field::dims, large_tensor);
    onnx::append_varint_field(out, onnx::tensor_field::data_type, static_cast<std::uint64_t>(DataType::uint8));
    onnx::append_bytes_field(out, onnx::tensor_field::name, "weight");
    onnx::append_tag(out, onnx::tensor_field::raw_data, onnx::Type::length_delimited);
    onnx::append_varint(out, large_tensor);
    return out;
  }

  fs::path path_;
};

/// Measures how long a program waits until it can ask for a tensor. The weights are not read.
void load_model_no_copy(benchmark::State& state) {
  const SparseModel file(state.range(0) * mib);
  for (auto _ : state) {
    const Model model = Model::load(file.path());
    const auto& tensors = model.proto().graph().initializer();
    if (model.span(tensors[tensors.size() - 1]).size() != large_tensor) state.SkipWithError("wrong model");
  }
}
BENCHMARK(load_model_no_copy)->Arg(64)->Arg(1900)->Unit(benchmark::kMillisecond)->UseRealTime();

/// `size` bytes in 4 MiB tensors, borrowed from a buffer.
Model model_of(const std::vector<std::byte>& bytes) {
  Model model;
  for (std::size_t at = 0; at < bytes.size(); at += large_tensor) {
    schema::TensorProto& tensor = *model.proto().mutable_graph()->add_initializer();
    tensor.set_data_type(static_cast<std::int32_t>(DataType::uint8));
    tensor.add_dims(large_tensor);
    model.set_payload(tensor, ByteSpan::borrow(Bytes(bytes).subspan(at, large_tensor)));
  }
  return model;
}

std::vector<std::byte> weights(std::int64_t size) {
  std::vector<std::byte> bytes(static_cast<std::size_t>(size));
  for (std::size_t i = 0; i < bytes.size(); i += 61) bytes[i] = static_cast<std::byte>(i);
  return bytes;
}

void consolidate(benchmark::State& state) {
  const std::vector<std::byte> bytes = weights(state.range(0) * mib);
  for (auto _ : state) {
    state.PauseTiming();
    Model model = model_of(bytes);
    state.ResumeTiming();
    const auto buffer = consolidate_tensors_to_buffer(model, {});
    state.PauseTiming();
    if (std::memcmp(buffer.get(), bytes.data(), bytes.size()) != 0) state.SkipWithError("wrong bytes");
    model = Model();
    state.ResumeTiming();  // the time includes freeing the buffer, as in memcpy_into_fresh_buffer
  }
  state.SetBytesProcessed(state.iterations() * state.range(0) * mib);
}
BENCHMARK(consolidate)->Arg(64)->Arg(1024)->Unit(benchmark::kMillisecond)->UseRealTime();

/// Makes the same copy by hand, for comparison: memory from malloc, one half per thread.
void memcpy_into_fresh_buffer(benchmark::State& state) {
  const std::vector<std::byte> bytes = weights(state.range(0) * mib);
  const std::size_t half = bytes.size() / 2;
  for (auto _ : state) {
    const auto buffer = std::make_unique_for_overwrite<std::byte[]>(bytes.size());
    {
      const base::JoinedThread second(
          [&] { std::memcpy(buffer.get() + half, bytes.data() + half, bytes.size() - half); });
      std::memcpy(buffer.get(), bytes.data(), half);
    }
    benchmark::DoNotOptimize(buffer.get());
    benchmark::ClobberMemory();
  }
  state.SetBytesProcessed(state.iterations() * state.range(0) * mib);
}
BENCHMARK(memcpy_into_fresh_buffer)->Arg(64)->Arg(1024)->Unit(benchmark::kMillisecond)->UseRealTime();

}  // namespace
}  // namespace onnxar
