// A plugin that programs load. It exports one function, and hides the library that it links.
#include "onnxar/archive.h"
#include "onnxar/archive_writer.h"
#include "onnxar/convert.h"
#include "onnxar/listing.h"

extern "C" [[gnu::visibility("default")]] int plugin_main(const char* path) {
  try {
    const onnxar::Archive archive = onnxar::Archive::open(path);
    onnxar::ArchiveWriter writer = onnxar::ArchiveWriter::create(std::string(path) + ".copy");
    writer.add("w", std::vector<std::byte>(100));
    onnxar::pack(path, std::string(path) + ".onnx");
    return static_cast<int>(onnxar::ls(archive).entries.size());
  } catch (const onnxar::Error& error) {
    return static_cast<int>(error.code());
  }
}
