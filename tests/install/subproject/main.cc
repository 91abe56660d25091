// Writes an archive with onnxar::core alone, maps it, and checks it.
#include <cstdio>
#include <string_view>
#include <vector>

#include "onnxar/archive.h"
#include "onnxar/archive_writer.h"
#include "onnxar/convert.h"

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  try {
    onnxar::ArchiveWriter writer = onnxar::ArchiveWriter::create(argv[1]);
    writer.add("w", std::vector<std::byte>(2048));
    writer.finish(onnxar::as_bytes(std::string_view("\x3a\x00", 2)));  // a ModelProto with an empty graph
    const onnxar::Archive archive = onnxar::Archive::open(argv[1]);
    return archive.resolve("w").size() == 2048 && onnxar::passed(onnxar::check(argv[1])) ? 0 : 1;
  } catch (const onnxar::Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
