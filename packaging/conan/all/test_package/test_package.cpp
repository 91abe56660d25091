// Uses the installed package: writes an archive, reads it, and names the version.
#include <cstdio>
#include <filesystem>
#include <span>

#include <onnxar/archive.h>
#include <onnxar/archive_writer.h>
#include <onnxar/version.h>
#ifdef WITH_MODEL
#include <onnxar/model/model.h>
#endif
#ifdef WITH_REMOTE
#include <onnxar/remote.h>
#endif

int main() {
  const char* const path = "test_package.onnxar";
  const unsigned char model[] = {0x08, 0x08, 0x3a, 0x00};  // a ModelProto: ir_version 8 and an empty graph
  onnxar::ArchiveWriter writer = onnxar::ArchiveWriter::create(path, {.output = {.overwrite = true}});
  writer.finish(std::as_bytes(std::span(model)));
  const onnxar::Archive archive = onnxar::Archive::open(path);
  const bool good = archive.model().size() == sizeof model;
#ifdef WITH_MODEL
  const onnxar::Model loaded = onnxar::Model::load(path);
  std::printf("model: IR version %d\n", static_cast<int>(loaded.proto().ir_version()));
#endif
#ifdef WITH_REMOTE
  std::printf("remote: %zu connections\n", onnxar::remote_options_of_environment().connections);
#endif
  std::printf("onnxar %s\n", onnxar::version_string());
  std::filesystem::remove(path);
  return good ? 0 : 1;
}
