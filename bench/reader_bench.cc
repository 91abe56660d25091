// Compares reader/onnxar_reader.c with the library on the same files: opening, and a walk through the tensors of a
// model.
#include <benchmark/benchmark.h>
#include <onnxar_reader.h>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "onnx/fields.h"
#include "onnx/sites.h"
#include "onnx/wire.h"
#include "onnxar/archive.h"
#include "onnxar/archive_writer.h"

namespace onnxar {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t floats = 16;  // of each tensor

std::string pair(std::string_view key, std::string_view value) {
  std::string out;
  onnx::append_bytes_field(out, onnx::entry_field::key, key);
  onnx::append_bytes_field(out, onnx::entry_field::value, value);
  return out;
}

std::string linked_tensor(const std::string& name) {
  std::string out;
  onnx::append_varint_field(out, onnx::tensor_field::dims, floats);
  onnx::append_varint_field(out, onnx::tensor_field::data_type, static_cast<std::uint64_t>(DataType::float32));
  onnx::append_bytes_field(out, onnx::tensor_field::name, name);
  for (const std::string& each :
       {pair("location", name), pair("offset", "0"), pair("length", std::to_string(floats * sizeof(float)))}) {
    onnx::append_bytes_field(out, onnx::tensor_field::external_data, each);
  }
  onnx::append_varint_field(out, onnx::tensor_field::data_location, 1);
  return out;
}

/// An archive of linked tensors, which the destructor removes.
class LinkedArchive {
 public:
  explicit LinkedArchive(std::int64_t tensors)
      : path_(fs::temp_directory_path() / ("onnxar_reader_bench_" + std::to_string(tensors))) {
    WriterOptions options;
    options.output.overwrite = true;
    options.output.sync = false;
    ArchiveWriter writer = ArchiveWriter::create(path_, options);
    const std::vector<std::byte> data(floats * sizeof(float));
    std::string graph;
    for (std::int64_t i = 0; i < tensors; ++i) {
      const std::string name = "decoder_layers_weight_" + std::to_string(i);
      writer.add(name, data);
      onnx::append_bytes_field(graph, onnx::graph_field::initializer, linked_tensor(name));
    }
    std::string model;
    onnx::append_bytes_field(model, onnx::model_field::graph, graph);
    writer.finish(as_bytes(model));
  }
  LinkedArchive(const LinkedArchive&) = delete;
  LinkedArchive& operator=(const LinkedArchive&) = delete;
  ~LinkedArchive() { fs::remove(path_); }

  [[nodiscard]] const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

struct Close {
  void operator()(onnxar_reader* archive) const { onnxar_reader_close(archive); }
  void operator()(onnxar_reader_walk* walk) const { onnxar_reader_walk_close(walk); }
};
using Reader = std::unique_ptr<onnxar_reader, Close>;

Reader opened_by_reader(const fs::path& path) {
  onnxar_reader* archive = nullptr;
  onnxar_reader_open(path.c_str(), nullptr, &archive, nullptr);
  return Reader(archive);
}

void open_by_library(benchmark::State& state) {
  const LinkedArchive file(state.range(0));
  for (auto _ : state) benchmark::DoNotOptimize(Archive::open(file.path()).size());
}

void open_by_reader(benchmark::State& state) {
  const LinkedArchive file(state.range(0));
  for (auto _ : state) {
    if (!opened_by_reader(file.path())) state.SkipWithError("refused");
  }
}

BENCHMARK(open_by_library)->Arg(10'000)->Arg(200'000)->Unit(benchmark::kMillisecond);
BENCHMARK(open_by_reader)->Arg(10'000)->Arg(200'000)->Unit(benchmark::kMillisecond);

/// What the library does to find the bytes of every tensor: walk, parse the link, resolve it.
std::size_t bytes_by_library(const Archive& archive) {
  std::size_t bytes = 0;
  onnx::walk_tensors(archive.model(), [&](const onnx::TensorSite& site) {
    const onnx::ExternalSlice link = onnx::parse_external_data(site.tensor.external, 0);
    bytes += archive.resolve(link.location, link.offset, link.length).size();
  });
  return bytes;
}

std::size_t bytes_by_reader(const onnxar_reader* archive) {
  std::size_t bytes = 0;
  onnxar_reader_walk* walk = nullptr;
  onnxar_reader_tensor tensor;
  onnxar_reader_walk_open(archive, onnxar_reader_model(archive), &walk, nullptr);
  const std::unique_ptr<onnxar_reader_walk, Close> owner(walk);
  while (onnxar_reader_walk_next(walk, &tensor, nullptr) > 0) bytes += tensor.size;
  return bytes;
}

void walk_by_library(benchmark::State& state) {
  const LinkedArchive file(state.range(0));
  const Archive archive = Archive::open(file.path());
  const std::size_t expected = static_cast<std::size_t>(state.range(0)) * floats * sizeof(float);
  for (auto _ : state) {
    if (bytes_by_library(archive) != expected) state.SkipWithError("wrong bytes");
  }
}

void walk_by_reader(benchmark::State& state) {
  const LinkedArchive file(state.range(0));
  const Reader archive = opened_by_reader(file.path());
  const std::size_t expected = static_cast<std::size_t>(state.range(0)) * floats * sizeof(float);
  for (auto _ : state) {
    if (bytes_by_reader(archive.get()) != expected) state.SkipWithError("wrong bytes");
  }
}

BENCHMARK(walk_by_library)->Arg(10'000)->Unit(benchmark::kMillisecond);
BENCHMARK(walk_by_reader)->Arg(10'000)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace onnxar
