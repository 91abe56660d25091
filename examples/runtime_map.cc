// A runtime's use of an archive: maps it and reads each weight in place, without a copy and without protobuf.
//
//   runtime_map [--all] [--populate] [--copy-in] ARCHIVE [KEY]
//
// Shows one weight, that of KEY or the largest; with --all, every tensor of the model and where its bytes are. This
// program finds the tensors with onnxar::tensors. A runtime that parses `archive.model()` with a protobuf of its
// own calls onnxar::resolve_all (onnxar/resolve.h). Both find the tensors at every site: a loop over graph.initializer
// alone misses those of Constant nodes, subgraphs and functions.
#include <algorithm>
#include <bit>
#include <chrono>
#include <cstdint>
#include <iostream>
#include <ranges>
#include <string>
#include <string_view>
#include <vector>

#include "onnxar/archive.h"
#include "onnxar/resolve.h"
#include "onnxar/tensors.h"

namespace {

struct Arguments {
  onnxar::OpenOptions open;
  bool all = false;
  std::string archive, key;
};

Arguments parse(const std::vector<std::string>& words) {
  Arguments arguments;
  std::vector<std::string> names;
  for (const std::string& word : words) {
    if (word == "--all") {
      arguments.all = true;
    } else if (word == "--populate") {  // all pages are there before the first one is used
      arguments.open.prefetch = onnxar::Prefetch::populate;
    } else if (word == "--copy-in") {  // for network file systems, and files that may be shortened
      arguments.open.copy_in = true;
    } else {
      names.push_back(word);
    }
  }
  if (names.empty() || names.size() > 2 || names[0].starts_with("--")) {
    throw onnxar::Error(onnxar::Code::usage_argument,
                        "usage: runtime_map [--all] [--populate] [--copy-in] ARCHIVE [KEY]");
  }
  arguments.archive = names[0];
  if (names.size() == 2) arguments.key = names[1];
  return arguments;
}

/// The entry of this name, or the largest one.
onnxar::ArchiveEntry choose(const onnxar::Archive& archive, const std::string& name) {
  if (!name.empty()) {
    if (const auto entry = archive.find(name)) return *entry;
    throw onnxar::Error(onnxar::Code::usage_no_such_entry, "the archive has no such entry", {name, std::nullopt});
  }
  const auto weights = archive.entries() | std::views::take(archive.size() - 1);  // the last one is the model
  if (weights.empty()) return archive.entry(0);
  return *std::ranges::max_element(weights, {}, &onnxar::ArchiveEntry::size);
}

/// A number of a tensor is little-endian on every host.
float float_at(onnxar::Bytes bytes, std::size_t offset) {
  std::uint32_t bits = 0;
  for (unsigned i = 0; i < 4; ++i) bits |= std::to_integer<std::uint32_t>(bytes[offset + i]) << 8 * i;
  return std::bit_cast<float>(bits);
}

void print_first_floats(onnxar::Bytes bytes) {
  for (std::size_t i = 0; i < 4 && (i + 1) * sizeof(float) <= bytes.size(); ++i) {
    std::cout << ' ' << float_at(bytes, i * sizeof(float));
  }
}

void print_all(const onnxar::Archive& archive) {
  for (const onnxar::StoredTensor& tensor : onnxar::tensors(archive)) {
    std::cout << onnxar::escaped(tensor.name) << ' ' << to_string(tensor.type) << " [";
    for (std::size_t i = 0; i < tensor.dims.size(); ++i) std::cout << (i == 0 ? "" : ", ") << tensor.dims[i];
    if (tensor.type == onnxar::DataType::string) {
      std::cout << "] in the model: strings have no raw bytes\n";
      continue;
    }
    const onnxar::ByteSpan data = onnxar::tensor_data(archive, tensor);
    std::cout << "] in " << data.size() << " bytes at " << static_cast<const void*>(data.bytes().data()) << '\n';
  }
}

void run(const Arguments& arguments) {
  const auto begin = std::chrono::steady_clock::now();
  const onnxar::Archive archive = onnxar::Archive::open(arguments.archive, arguments.open);
  const onnxar::ArchiveEntry entry = choose(archive, arguments.key);
  const onnxar::Bytes bytes = archive.resolve(entry.name);
  const std::chrono::duration<double, std::micro> took = std::chrono::steady_clock::now() - begin;
  std::cout << (arguments.open.copy_in ? "copied " : "mapped ") << onnxar::escaped(entry.name) << ": " << bytes.size()
            << " bytes at " << static_cast<const void*>(bytes.data()) << " (a multiple of "
            << archive.locate(entry).alignment << " in the file), ready after " << took.count()
            << " microseconds\nas floats it begins:";
  print_first_floats(bytes);
  std::cout << '\n';
  if (arguments.all) print_all(archive);
}

}  // namespace

int main(int argc, char** argv) {
  try {
    run(parse({argv + 1, argv + argc}));
    return 0;
  } catch (const std::exception& error) {
    std::cerr << "runtime_map: " << error.what() << '\n';
    return 1;
  }
}
