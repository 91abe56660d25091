// A program built with -fno-exceptions that uses a good archive and refuses bad ones. It includes every header of
// onnxar::core, so each of them has to compile without exceptions.
//
//   no_exceptions FOLDER
//
// Exits with the number of the first expectation that fails.
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "onnxar/archive.h"
#include "onnxar/archive_writer.h"
#include "onnxar/bytes.h"
#include "onnxar/convert.h"
#include "onnxar/edit.h"
#include "onnxar/error.h"
#include "onnxar/link.h"
#include "onnxar/listing.h"
#include "onnxar/model_stream.h"
#include "onnxar/options.h"
#include "onnxar/resolve.h"
#include "onnxar/tensor.h"
#include "onnxar/version.h"

#if defined(__cpp_exceptions)
#error "this program is for builds without exceptions"
#endif

namespace {

int step = 0;

/// Counts an expectation, and ends the program if it fails.
void expect(bool holds, const onnxar::Failure& failure) {
  ++step;
  if (holds) return;
  const std::string_view message = failure.message();
  std::fprintf(stderr, "expectation %d does not hold: %.*s\n", step, static_cast<int>(message.size()), message.data());
  std::exit(step);
}

/// The serialised ModelProto of a graph with one FLOAT initializer `t` of four elements, which are all of entry `w`.
constexpr std::string_view model =
    "\x08\x08\x3a\x35\x2a\x33"
    "\x08\x04\x10\x01\x42\x01t"
    "\x6a\x0d\x0a\x08location\x12\x01w"
    "\x6a\x0b\x0a\x06offset\x12\x01"
    "0"
    "\x6a\x0c\x0a\x06length\x12\x02"
    "16"
    "\x70\x01";

void use_good(const std::filesystem::path& path) {
  onnxar::Failure failure;
  const auto archive = onnxar::Archive::open(path, failure);
  expect(archive && !failure, failure);
  for (const onnxar::ArchiveEntry& entry : archive->entries()) {
    expect(archive->verify(entry, failure), failure);
    std::vector<std::byte> copy(entry.size);
    expect(onnxar::read_entry(*archive, entry, copy, failure), failure);
  }
  const auto index = onnxar::TensorIndex::make(*archive, failure);
  expect(index && index->count("t") == 1, failure);
  const auto data = index->find("t")->data(failure);
  expect(data && data->size() == 16, failure);
  expect(!archive->resolve("none", 0, {}, failure), failure);
  expect(failure.code() == onnxar::Code::onnx_external_missing && failure.entry() == "none", failure);
}

void refuse_bad(const std::filesystem::path& good) {
  onnxar::Failure failure;
  expect(!onnxar::Archive::open(good.parent_path() / "none", failure), failure);
  expect(failure.code() == onnxar::Code::io_not_found, failure);
  const std::filesystem::path bad = good.parent_path() / "bad.onnxar";
  std::filesystem::copy_file(good, bad);
  std::filesystem::resize_file(bad, std::filesystem::file_size(bad) - 1);
  expect(!onnxar::Archive::open(bad, failure), failure);
  expect(failure.cause() == onnxar::Failure::Cause::error && failure.offset().has_value(), failure);
  expect(onnxar::kind(*failure.code()) == onnxar::Kind::format, failure);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 255;
  const std::filesystem::path folder = argv[1];
  std::filesystem::remove_all(folder);
  std::filesystem::create_directories(folder);
  const std::vector<std::byte> weight(16);
  onnxar::ArchiveWriter writer = onnxar::ArchiveWriter::create(folder / "good.onnxar");
  writer.add("w", weight);
  writer.finish(onnxar::as_bytes(model));
  use_good(folder / "good.onnxar");
  refuse_bad(folder / "good.onnxar");
  std::filesystem::remove_all(folder);
  return 0;
}
