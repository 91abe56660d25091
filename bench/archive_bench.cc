// Measures the library's own functions: open, resolve, CRC-32, verify. run.py compares whole commands with their peers.
#include <benchmark/benchmark.h>

#include <cstdint>
#include <cstring>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/crc32.h"
#include "base/mapped_file.h"
#include "base/open_file.h"
#include "onnxar/archive.h"
#include "onnxar/archive_writer.h"

namespace onnxar {
namespace {

namespace fs = std::filesystem;

/// An archive that the destructor removes.
class TemporaryArchive {
 public:
  TemporaryArchive(std::size_t entries, std::size_t entry_size, std::size_t graphs = 1)
      : path_(fs::temp_directory_path() / ("onnxar_bench_" + std::to_string(entries) + "_" +
                                           std::to_string(entry_size) + "_" + std::to_string(graphs))) {
    std::vector<std::byte> data(entry_size);
    for (std::size_t i = 0; i < data.size(); ++i) data[i] = static_cast<std::byte>(i * 2654435761U >> 24U);
    WriterOptions options;
    options.output.overwrite = true;
    options.output.sync = false;
    options.verify_model = false;  // it is not a model, and no benchmark here reads it
    ArchiveWriter writer = ArchiveWriter::create(path_, options);
    for (std::size_t i = 0; i < entries; ++i) writer.add("decoder_layers_weight_" + std::to_string(i), data);
    for (std::size_t i = 1; i < graphs; ++i) writer.add_graph("decoder_" + std::to_string(i), as_bytes("no model"));
    writer.finish(as_bytes("no model"));
  }
  TemporaryArchive(const TemporaryArchive&) = delete;
  TemporaryArchive& operator=(const TemporaryArchive&) = delete;
  ~TemporaryArchive() { fs::remove(path_); }

  [[nodiscard]] const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

void open_archive(benchmark::State& state) {
  const TemporaryArchive file(static_cast<std::size_t>(state.range(0)), 64);
  for (auto _ : state) {
    const Archive archive = Archive::open(file.path());
    if (archive.size() != static_cast<std::size_t>(state.range(0)) + 1) state.SkipWithError("wrong number of entries");
  }
  state.SetItemsProcessed(state.iterations() * state.range(0));
}
BENCHMARK(open_archive)->Arg(100)->Arg(10'000)->Arg(200'000)->Unit(benchmark::kMillisecond);

/// Opens an archive of 1000 entries with one graph, the model, or with several.
void open_family(benchmark::State& state) {
  constexpr std::size_t entries = 1000;
  const auto graphs = static_cast<std::size_t>(state.range(0));
  const TemporaryArchive file(entries, 64, graphs);
  for (auto _ : state) {
    const Archive archive = Archive::open(file.path());
    if (archive.size() != entries + graphs) state.SkipWithError("wrong number of entries");
  }
}
BENCHMARK(open_family)->Arg(1)->Arg(10)->Unit(benchmark::kMicrosecond);

/// Opens a file by its descriptor: mapped (0), or read into memory (1).
void open_descriptor(benchmark::State& state) {
  constexpr std::size_t entries = 10'000;
  const TemporaryArchive file(entries, 64);
  const os::File descriptor = base::open_file(file.path(), os::Access::read);
  OpenOptions options;
  options.copy_in = state.range(0) == 1;
  for (auto _ : state) {
    const Archive archive = Archive::open({static_cast<int>(descriptor.get()), 0, std::nullopt}, options);
    if (archive.size() != entries + 1) state.SkipWithError("wrong number of entries");
  }
}
BENCHMARK(open_descriptor)->Arg(0)->Arg(1)->Unit(benchmark::kMillisecond);

void resolve_hot(benchmark::State& state) {
  constexpr std::size_t entries = 1000;
  const TemporaryArchive file(entries, 4096);
  const Archive archive = Archive::open(file.path());
  std::vector<std::string> names;
  for (std::size_t i = 0; i < entries; ++i) names.push_back("decoder_layers_weight_" + std::to_string(i));
  for (const std::string& name : names) benchmark::DoNotOptimize(archive.resolve(name));  // proves the local headers
  std::size_t next = 0;
  for (auto _ : state) {
    const Bytes bytes = archive.resolve(names[next], 0, 4096);
    if (bytes.size() != 4096) state.SkipWithError("wrong slice");
    next = next + 1 == entries ? 0 : next + 1;
  }
}
BENCHMARK(resolve_hot);

void crc32_of_memory(benchmark::State& state) {
  const std::vector<std::byte> data(static_cast<std::size_t>(state.range(0)), std::byte{0x5a});
  for (auto _ : state) benchmark::DoNotOptimize(base::crc32(0, data));
  state.SetBytesProcessed(state.iterations() * state.range(0));
}
BENCHMARK(crc32_of_memory)->Arg(1 << 10)->Arg(1 << 20)->Arg(64 << 20);

constexpr std::size_t large_entries = 16, large_entry = 64U << 20U;

std::uint64_t sum_of(Bytes bytes) {
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i + sizeof sum <= bytes.size(); i += sizeof sum) {
    std::uint64_t word = 0;
    std::memcpy(&word, bytes.data() + i, sizeof word);
    sum += word;
  }
  return sum;
}

/// One file for all benchmarks that read data: the placement of a file's pages in memory decides how fast they are
/// read.
const fs::path& large_archive() {
  static const TemporaryArchive file(large_entries, large_entry);
  return file.path();
}

/// Uses each entry of the large archive: in a new mapping (0), whose pages fault first, or in a mapping that was read
/// before (1).
template <typename Use>
void use_all_entries(benchmark::State& state, Use use) {
  const fs::path& path = large_archive();  // written before the clock runs
  std::optional<Archive> archive;
  for (auto _ : state) {
    if (!archive || state.range(0) == 0) archive = Archive::open(path);
    for (std::size_t i = 0; i < archive->size(); ++i) use(*archive, archive->entry(i));
  }
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(large_entries * large_entry));
}

/// The work of `check --data` on the bytes.
void verify_all_entries(benchmark::State& state) {
  use_all_entries(state, [](const Archive& archive, const ArchiveEntry& entry) { archive.verify(entry); });
}
BENCHMARK(verify_all_entries)->Arg(0)->Arg(1)->Unit(benchmark::kMillisecond)->UseRealTime();

/// The least work on the bytes for comparison: a 64-bit sum.
void sum_of_all_entries(benchmark::State& state) {
  use_all_entries(state, [](const Archive& archive, const ArchiveEntry& entry) {
    benchmark::DoNotOptimize(sum_of(archive.bytes(entry)));
  });
}
BENCHMARK(sum_of_all_entries)->Arg(0)->Arg(1)->Unit(benchmark::kMillisecond)->UseRealTime();

/// Writes from memory to a new file, as exporters do. The file is removed after each run: when a file replaces an old
/// one without a sync, ext4 starts to write it to the disk, and that time would be measured.
void write_archive(benchmark::State& state) {
  const std::vector<std::byte> data(large_entry, std::byte{0x5a});
  const fs::path path = fs::temp_directory_path() / "onnxar_bench_written";
  WriterOptions options;
  options.output.sync = false;
  options.verify_model = false;
  for (auto _ : state) {
    ArchiveWriter writer = ArchiveWriter::create(path, options);
    for (std::size_t i = 0; i < large_entries; ++i) writer.add("w" + std::to_string(i), data);
    writer.finish(as_bytes("no model"));
    state.PauseTiming();
    fs::remove(path);
    state.ResumeTiming();
  }
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(large_entries * large_entry));
}
BENCHMARK(write_archive)->Iterations(1)->Unit(benchmark::kMillisecond)->UseRealTime();

/// Opens the archive and gets a view of every entry, without reading a byte of it.
void map_all(benchmark::State& state) {
  const fs::path& path = large_archive();
  for (auto _ : state) {
    const Archive archive = Archive::open(path);
    for (std::size_t i = 0; i < archive.size(); ++i) benchmark::DoNotOptimize(archive.bytes(archive.entry(i)));
  }
}
BENCHMARK(map_all)->Unit(benchmark::kMillisecond)->UseRealTime();

/// Opens the archive and reads every byte.
void map_and_sum(benchmark::State& state) {
  const fs::path& path = large_archive();
  for (auto _ : state) {
    const Archive archive = Archive::open(path);
    std::uint64_t sum = 0;
    for (std::size_t i = 0; i < archive.size(); ++i) sum += sum_of(archive.bytes(archive.entry(i)));
    benchmark::DoNotOptimize(sum);
  }
}
BENCHMARK(map_and_sum)->Unit(benchmark::kMillisecond)->UseRealTime();

}  // namespace
}  // namespace onnxar
