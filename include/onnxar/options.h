// Options of loading and saving models. A function that takes `const TensorBufferOptions&` takes the derived ones too.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

namespace onnxar {

/// Which tensor payloads are large, and where large ones may begin.
struct TensorBufferOptions {
  std::uint64_t raw_data_threshold = 0;  ///< bytes; payloads of at least this many are large
  std::uint64_t alignment = 0;           ///< bytes, a power of two; 0 = none asked for
};

struct LoadOptions : TensorBufferOptions {
  LoadOptions() { raw_data_threshold = 1024; }

  std::filesystem::path external_data_dir;          ///< where external data lies; empty: in the model's folder
  std::size_t max_depth = 100;                      ///< nested messages, as protobuf's parsers have it
  std::uint64_t max_skeleton_size = 512ULL << 20U;  ///< bytes of the model without its large payloads
  bool foreign_zips = false;  ///< `convert` also reads zip files that are no archives, and PyTorch's folders
  /// Where compressed entries of such zips are unpacked to, in a file without a name; empty: the output's folder.
  std::filesystem::path temporary_dir;
  bool verify_data = true;  ///< compare the CRC-32 of archive entries whenever their bytes are copied
};

/// What a model is written as.
enum class Format : std::uint8_t {
  archive,        ///< one archive
  onnx_inline,    ///< one ModelProto with all data in it; below 2 GiB
  onnx_external,  ///< a ModelProto and one data file beside it
};

struct SaveOptions : TensorBufferOptions {
  SaveOptions() {
    raw_data_threshold = 1024;
    alignment = 64;
  }

  Format format = Format::archive;
  bool all_sites = false;  ///< move sparse values, defaults of function attributes and training info out, too
  bool attributes = true;  ///< move tensors out of node attributes, too
  std::string data_file;   ///< of onnx_external: the data file's name, no path
  bool replace = false;    ///< replace existing outputs
  bool sync = true;        ///< sync files and folder before returning
  bool dry_run = false;    ///< find every fault that planning can find, and write nothing
};

}  // namespace onnxar
