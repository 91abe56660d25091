// Opens an archive and reads its entries, and nothing else.
#include <cstdio>

#include "onnxar/archive.h"

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  try {
    const onnxar::Archive archive = onnxar::Archive::open(argv[1]);
    std::uint64_t bytes = 0;
    for (std::size_t i = 0; i < archive.size(); ++i) bytes += archive.bytes(archive.entry(i)).size();
    std::printf("%zu entries of %llu bytes\n", archive.size(), static_cast<unsigned long long>(bytes));
    return 0;
  } catch (const onnxar::Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
