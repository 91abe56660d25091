// Maps an archive and reads one weight where it lies: no copy, no protobuf.
//
//   map_tensor model.onnxar [KEY]
#include <chrono>
#include <cstring>
#include <iostream>

#include "onnxar/archive.h"

namespace {

/// The entry of this name, or the largest one.
onnxar::ArchiveEntry choose(const onnxar::Archive& archive, const char* name) {
  if (name != nullptr) {
    if (const auto entry = archive.find(name)) return *entry;
    throw onnxar::Error(onnxar::Code::usage_no_such_entry, "the archive has no such entry", {name, std::nullopt});
  }
  onnxar::ArchiveEntry largest = archive.entry(0);
  for (std::size_t i = 1; i + 1 < archive.size(); ++i) {
    if (archive.entry(i).size > largest.size) largest = archive.entry(i);
  }
  return largest;
}

void print_first_floats(onnxar::Bytes bytes) {
  for (std::size_t i = 0; i < 4 && (i + 1) * sizeof(float) <= bytes.size(); ++i) {
    float value = 0;
    std::memcpy(&value, bytes.data() + i * sizeof value, sizeof value);
    std::cout << ' ' << value;
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2 || argc > 3) {
    std::cerr << "usage: map_tensor ARCHIVE [KEY]\n";
    return 2;
  }
  try {
    const auto begin = std::chrono::steady_clock::now();
    const onnxar::Archive archive = onnxar::Archive::open(argv[1]);
    const onnxar::ArchiveEntry entry = choose(archive, argc == 3 ? argv[2] : nullptr);
    const onnxar::Bytes bytes = archive.resolve(entry.name);
    const std::chrono::duration<double, std::micro> took = std::chrono::steady_clock::now() - begin;
    std::cout << "mapped " << onnxar::escaped(entry.name) << ": " << bytes.size() << " bytes at "
              << static_cast<const void*>(bytes.data()) << " (a multiple of " << archive.locate(entry).alignment
              << " in the file), ready after " << took.count() << " microseconds\nas floats it begins:";
    print_first_floats(bytes);
    std::cout << '\n';
    return 0;
  } catch (const std::exception& error) {
    std::cerr << "map_tensor: " << error.what() << '\n';
    return 1;
  }
}
