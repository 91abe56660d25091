// Measures splitting, joining and laying out models. The times should not depend on the size of the weights.
#include <benchmark/benchmark.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "convert/load.h"
#include "onnx/fields.h"
#include "onnx/wire.h"
#include "onnxar/archive.h"
#include "onnxar/convert.h"
#include "onnxar/tensors.h"
#include "zip/layout.h"

namespace onnxar {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t tensor_bytes = 4096;

std::string tensor(std::size_t index, std::size_t size) {
  std::string out;
  onnx::append_varint_field(out, onnx::tensor_field::dims, size);
  onnx::append_varint_field(out, onnx::tensor_field::data_type, static_cast<std::uint64_t>(DataType::uint8));
  onnx::append_bytes_field(out, onnx::tensor_field::name, "decoder.layers.weight." + std::to_string(index));
  onnx::append_bytes_field(out, onnx::tensor_field::raw_data, std::string(size, 'x'));
  return out;
}

/// A folder with a model of `tensors` tensors of `size` bytes, which the destructor removes.
class ModelFolder {
 public:
  explicit ModelFolder(std::int64_t tensors, std::size_t size = tensor_bytes)
      : folder_(fs::temp_directory_path() / ("onnxar_model_bench_" + std::to_string(tensors))) {
    fs::create_directories(folder_);
    std::string graph;
    for (std::int64_t i = 0; i < tensors; ++i) {
      onnx::append_bytes_field(graph, onnx::graph_field::initializer, tensor(static_cast<std::size_t>(i), size));
    }
    std::string model;
    onnx::append_bytes_field(model, onnx::model_field::graph, graph);
    std::ofstream(path()) << model;
  }
  ModelFolder(const ModelFolder&) = delete;
  ModelFolder& operator=(const ModelFolder&) = delete;
  ~ModelFolder() { fs::remove_all(folder_); }

  [[nodiscard]] fs::path path() const { return folder_ / "model.onnx"; }
  [[nodiscard]] fs::path output() const { return folder_ / "output"; }

 private:
  fs::path folder_;
};

SaveOptions quick(Format format) {
  SaveOptions options;
  options.format = format;
  options.output.overwrite = true;
  options.output.sync = false;
  return options;
}

void split_model(benchmark::State& state) {
  const ModelFolder model(state.range(0));
  const ExternalPolicy policy = ExternalPolicy::of(SaveOptions());
  for (auto _ : state) {
    const LoadedModel loaded = load_model(model.path(), policy, {});
    if (loaded.payloads.size() != static_cast<std::size_t>(state.range(0)))
      state.SkipWithError("wrong number of payloads");
  }
}
BENCHMARK(split_model)->Arg(100)->Arg(10'000)->Unit(benchmark::kMillisecond);

void join_model(benchmark::State& state) {
  const ModelFolder model(state.range(0));
  pack(model.path(), model.output(), quick(Format::archive));
  const fs::path back = model.path().parent_path() / "back.onnx";
  for (auto _ : state) unpack(model.output(), back, quick(Format::onnx_inline));
  if (fs::file_size(back) != fs::file_size(model.path()))
    state.SkipWithError("the joined model differs from the original");
}
BENCHMARK(join_model)->Arg(100)->Arg(10'000)->Unit(benchmark::kMillisecond);

/// Opens an archive and gets the bytes of every tensor, as opening.py does from Python.
void open_all_tensors(benchmark::State& state) {
  constexpr std::size_t size = 64;
  const ModelFolder model(state.range(0), size);
  SaveOptions options = quick(Format::archive);
  options.threshold = 0;
  pack(model.path(), model.output(), options);
  for (auto _ : state) {
    const Archive archive = Archive::open(model.output());
    std::size_t bytes = 0;
    for (const StoredTensor& each : tensors(archive)) bytes += tensor_data(archive, each).size();
    if (bytes != size * static_cast<std::size_t>(state.range(0))) state.SkipWithError("wrong bytes");
  }
}
BENCHMARK(open_all_tensors)->Arg(10'000)->Unit(benchmark::kMillisecond);

void layout_of_entries(benchmark::State& state) {
  std::vector<zip::PlacedEntry> entries(static_cast<std::size_t>(state.range(0)));
  for (auto _ : state) {
    std::uint64_t offset = 0;
    std::size_t headers = 0;
    for (std::size_t i = 0; i < entries.size(); ++i) {
      zip::PlacedEntry& entry = entries[i];
      entry.name = "decoder_layers_weight_" + std::to_string(i);
      entry.placement = zip::place(offset, entry.name.size(), tensor_bytes, 64);
      headers += zip::local_header_bytes(entry).size();
      offset = entry.placement.end();
    }
    benchmark::DoNotOptimize(headers + zip::directory_headers(entries).size());
  }
}
BENCHMARK(layout_of_entries)->Arg(10'000)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace onnxar
