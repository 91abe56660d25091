// Options of loading and saving models. All are aggregates: `{.threshold = 4096, .output = {.overwrite = true}}`.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "onnxar/archive_writer.h"
#include "onnxar/bytes.h"
#include "onnxar/version.h"

namespace ONNXAR_API onnxar {

/// Which tensor payloads are large, and where large ones may begin: for consolidate_tensors_to_buffer (model/model.h).
struct TensorBufferOptions {
  std::uint64_t threshold = 0;  ///< bytes; payloads of at least this many are large
  std::uint64_t alignment = 0;  ///< bytes, a power of two; 0 = none asked for
};

/// Makes a model in protobuf's text format its bytes on the wire. Errors: onnx.text.syntax.
using TextParser = std::function<std::vector<std::byte>(Bytes text)>;

struct LoadOptions {
  std::uint64_t threshold = 1024;  ///< bytes; payloads of at least this many are large, and kept beside the model
  /// Whether payloads stay where they lie, in a mapped file or in the bytes that are given. Else the model owns copies.
  /// Unless set: yes for files and for bytes with an owner, no for bytes that the caller keeps alive. For Model::load.
  std::optional<bool> no_copy = {};
  /// Whether external data is looked up. If not, tensors stay linked as they are, nothing is opened, and only
  /// Format::onnx_inline in the folder that the links count from can be saved.
  bool load_external_data = true;
  std::filesystem::path external_data_dir = {};     ///< where external data lies; empty: in the model's folder
  std::size_t threads = 0;                          ///< that copy and verify; 0: as many as there are cores
  Prefetch prefetch = Prefetch::none;               ///< for Model::load
  std::size_t max_depth = 100;                      ///< nested messages, as protobuf's parsers have it
  std::uint64_t max_skeleton_size = 512ULL << 20U;  ///< bytes of the model without its large payloads
  /// How many times the size of the input (the model's file or bytes, the archive, the data files) the bytes may be
  /// that are made of payloads which tensors share: written by saving and `extract`, copied by Model::load without
  /// `no_copy`, compared by `diff`. Tensors may name one range of a file a million times, or ranges that overlap. Above
  /// it: onnx.model.expansion, before anything is written.
  std::uint64_t max_expansion = 8;
  bool foreign_zips = false;  ///< `convert` also reads zip files that are no archives, and PyTorch's folders
  /// Where compressed entries of such zips are unpacked to, in a file without a name; empty: the output's folder. Also
  /// where entries that an edit appended are copied to while parts of them are read; empty: the output's folder, or,
  /// where there is no output, the system's for temporary files.
  std::filesystem::path temporary_dir = {};
  /// What reads a model in protobuf's text format, which is told apart by content: `text_parser()` of
  /// onnxar/model/model.h, as onnxar::core has no protobuf. Model has it without being told. Without one, text is
  /// usage.no_text_parser.
  TextParser text_parser = {};
  /// Compare the CRC-32 of archive entries, and the checksum that a link has, whenever their bytes are copied.
  bool verify_data = true;
};

/// What a model is written as.
enum class Format : std::uint8_t {
  archive,        ///< one archive
  onnx_inline,    ///< one ModelProto with all data in it; below 2 GiB
  onnx_external,  ///< a ModelProto and one data file beside it, or one for each tensor
  textproto,  ///< a ModelProto as text with all data in it; by Model::save and convert_to_text (onnxar/model/model.h)
};

/// What links in a model hold their data's bytes against, beside the CRC-32 that every archive entry has.
enum class Checksum : std::uint8_t { none, sha1 };

/// A file that goes into an archive beside the weights.
struct AddedFile {
  std::string name;            ///< of the entry; no C identifier: those are keys of tensors
  std::filesystem::path path;  ///< what is read
};

/// How far saving is: of `total` bytes of data, `done` are written.
using ProgressCallback = std::function<void(std::uint64_t done, std::uint64_t total)>;

struct SaveOptions {
  std::uint64_t threshold = 1024;  ///< bytes; payloads of at least this many move out of the model
  std::uint64_t alignment = 64;    ///< bytes, a power of two: where data outside the model begins
  Format format = Format::archive;
  bool all_sites = false;        ///< move sparse values, defaults of function attributes and training info out, too
  bool attributes = true;        ///< move tensors out of node attributes, too
  std::string data_file = {};    ///< of onnx_external: the data file's name, no path
  bool file_per_tensor = false;  ///< of onnx_external: a data file for each tensor instead, named by its key
  Checksum checksum = Checksum::none;  ///< of archive: what links carry; reads the data twice
  std::vector<AddedFile> add = {};     ///< of archive: side files, in place of those of the same name
  /// Of archive: an archive whose side files go along where the model has none of the same name, such as the one that
  /// is replaced. A file that is not a zip has none. Empty: none.
  std::filesystem::path side_files_of = {};
  std::vector<RenamedEntry> rename = {};  ///< of archive: side files, also added ones, that get other names
  /// `threads` are those of archive; what is read from an archive is verified by those of LoadOptions, too.
  OutputOptions output = {};
  /// Called by the thread that saves, every 16 MiB or so and when all is written, before anything is published: what it
  /// throws cancels saving, and nothing is left behind.
  ProgressCallback progress = {};
};

}  // namespace ONNXAR_API onnxar
