// Options of loading and saving models. All are aggregates: `{.threshold = 4096, .output = {.overwrite = true}}`.
//
// Threads: the callbacks in options run on the thread that called the library, one call at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "onnxar/archive_writer.h"
#include "onnxar/bytes.h"
#include "onnxar/random_access.h"
#include "onnxar/version.h"

namespace ONNXAR_API onnxar {

/// Which tensor payloads are large, and where large ones may begin: for consolidate_tensors_to_buffer (model/model.h).
struct TensorBufferOptions {
  std::uint64_t threshold = 0;  ///< bytes; payloads of at least this many are large
  std::uint64_t alignment = 0;  ///< bytes, a power of two; 0 = none asked for
};

/// Parses a model in protobuf's text format to its serialised bytes. Called on the thread that loads. Errors:
/// onnx.text.syntax.
using TextParser = std::function<std::vector<std::byte>(Bytes text)>;

struct LoadOptions {
  std::uint64_t threshold = default_threshold;  ///< bytes; payloads of at least this many are kept beside the model
  /// Whether payloads stay where they are, in a mapped file or in the given bytes; otherwise the model owns copies.
  /// Default: true for files and for bytes with an owner, false for bytes that the caller keeps alive. For Model::load.
  std::optional<bool> no_copy = {};
  /// Whether external data is read. If not, tensors keep their links, no data file is opened, and the model can only be
  /// saved as Format::onnx_inline, in the folder that the links are relative to.
  bool load_external_data = true;
  std::filesystem::path external_data_dir = {};     ///< the folder of external data; empty: the model's folder
  std::size_t threads = 0;                          ///< threads that copy and verify; 0: one for each core
  Prefetch prefetch = Prefetch::none;               ///< for Model::load
  std::size_t max_depth = most_nested_messages;     ///< of nested messages
  std::uint64_t max_skeleton_size = 512ULL << 20U;  ///< bytes; of the model without its large payloads
  /// How many times as large as the input (the model's file or bytes, the archive, the data files) the output may be if
  /// tensors share payloads. A model may name one range of a file a million times, or ranges that overlap. Holds for
  /// saving, `extract`, Model::load without `no_copy`, and what `diff` compares. Beyond it: onnx.model.expansion,
  /// before anything is written.
  std::uint64_t max_expansion = default_expansion;
  bool foreign_zips = false;  ///< `pack` and `unpack` also read zips that are not archives, and PyTorch's folders
  /// The folder of temporary files without a name, to which compressed entries of such zips are unpacked, and to which
  /// entries that an edit appended are copied while parts of them are read. Empty: the output's folder, or the system's
  /// folder for temporary files if there is no output.
  std::filesystem::path temporary_dir = {};
  /// Reads models in protobuf's text format, which are recognised by their content. `text_parser()` of
  /// onnxar/model/model.h makes one; onnxar::core has none, since it does not use protobuf. Functions of onnxar::model
  /// need no setting. Empty: a model as text is usage.no_text_parser.
  TextParser text_parser = {};
  /// Compare the CRC-32 of archive entries, and the checksums of links, whenever their bytes are copied.
  bool verify_data = true;
  /// Which graph of an archive is the model, by the names that Archive::graph takes. Its further graphs are then left
  /// alone. Empty: the archive's model. Other inputs have one graph and refuse a name (usage.argument). For functions
  /// that open a file or bytes; an open archive has Archive::graph.
  std::string graph = {};
  /// Opens addresses: called for the path of a model before a file is looked for. `remote_files()` of onnxar/remote.h
  /// makes one. What it opens has to be an archive. Empty: every path is that of a file.
  RangesOpener open_ranges = {};
};

/// The form of a model that is written.
enum class Format : std::uint8_t {
  archive,        ///< one archive
  onnx_inline,    ///< one ModelProto with all data in it; below 2 GiB
  onnx_external,  ///< a ModelProto and one data file beside it, or one for each tensor
  textproto,      ///< a ModelProto as text with all data in it; by Model::save and `dump` (onnxar/model/model.h)
};

/// The checksum in the links of a model, besides the CRC-32 that every entry has.
enum class Checksum : std::uint8_t { none, sha1 };

/// A file to put into an archive beside the weights.
struct AddedFile {
  std::string name;                 ///< of the entry; not a C identifier, since those are keys of tensors
  std::filesystem::path path = {};  ///< the file that is read
  /// If set, gives the bytes in place of a file, and `path` is not used. It may be read more than once.
  std::shared_ptr<const ByteSource> source = {};
};

struct SaveOptions {
  std::uint64_t threshold = default_threshold;  ///< bytes; payloads of at least this many move out of the model
  std::uint64_t alignment = default_alignment;  ///< bytes, a power of two: where data outside the model begins
  Format format = Format::archive;
  bool all_sites = false;  ///< move sparse values, defaults of function attributes and training info out, too
  bool attributes = true;  ///< move tensors out of node attributes, too
  /// Move tensors out of the graphs in nodes (If, Loop, Scan), too. Some runtimes do not look for external data there.
  bool subgraphs = true;
  std::string data_file = {};          ///< of onnx_external: the data file's name, no path
  bool file_per_tensor = false;        ///< of onnx_external: a data file for each tensor instead, named by its key
  Checksum checksum = Checksum::none;  ///< of archive: in the links; reads the data twice
  std::vector<AddedFile> add = {};     ///< of archive: side files, each name once; replace others of the same name
  /// Of archive: another archive, such as the one that is replaced, whose side files are copied if the model has none
  /// of the same name. A file that is not a zip has none. Empty: none.
  std::filesystem::path side_files_of = {};
  std::vector<RenamedEntry> rename = {};  ///< of archive: side files, also added ones, that get other names
  /// `threads` applies to Format::archive. LoadOptions::threads verify data that is read from an archive.
  OutputOptions output = {};
  /// Called about every 16 MiB, and when everything is written, before anything is published. An exception from it
  /// cancels saving, and no file is left.
  ProgressCallback progress = {};
};

}  // namespace ONNXAR_API onnxar
