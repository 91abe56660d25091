// Options of loading and saving models. All are aggregates. Threads: calls only read their options.
//
//   onnxar::pack("model.onnx", "model.onnxar", {.threshold = 4096, .output = {.overwrite = true}});
#pragma once

#include "onnxar/bytes.h"

namespace ONNXAR_API onnxar {

/// Options of every function that writes files. The options of a function say which members do not apply.
struct OutputOptions {
  bool overwrite = false;   ///< replace an existing output, atomically and with its mode
  bool sync = true;         ///< sync files and folder before returning
  bool dry_run = false;     ///< find every fault that planning can find, and write nothing
  std::size_t threads = 0;  ///< for writing and checksums; 1: only the caller's; 0: one for each core
};

/// Parses a model in protobuf's text format to its serialised bytes. Throws onnx.text.syntax.
using TextParser = std::function<std::vector<std::byte>(Bytes text)>;

struct LoadOptions {
  std::uint64_t threshold = default_threshold;  ///< bytes; payloads of at least this many are kept beside the model
  /// Leaves payloads in the mapped file or in the passed bytes; otherwise the model owns copies. For Model::load.
  /// Default: true for files and for bytes with an owner, false for bytes that the caller keeps alive.
  std::optional<bool> no_copy = {};
  /// Loads external data. If false, tensors keep their links, no data file is opened, and the model can only be saved
  /// as Format::onnx_inline in the folder to which the links are relative.
  bool load_external_data = true;
  std::filesystem::path external_data_dir = {};     ///< of external data; empty: the model's folder
  std::size_t threads = 0;                          ///< 0: one for each core, or what OutputOptions::threads leaves
  Prefetch prefetch = Prefetch::none;               ///< for Model::load
  std::uint64_t max_skeleton_size = 512ULL << 20U;  ///< bytes; of the model without its large payloads
  /// How many times as large as the input the output may be, since tensors may share payloads (else
  /// onnx.model.expansion). For saving, `extract`, and Model::load without `no_copy`.
  std::uint64_t max_expansion = default_expansion;
  bool foreign_zips = false;  ///< `pack` and `unpack` also read zips that are not archives, and PyTorch's folders
  /// The folder for unnamed temporary files. They hold compressed entries of such zips, and entries that an edit
  /// appended and that tensors use only in part. Empty: the output's folder, or else the system's temporary folder.
  std::filesystem::path temporary_dir = {};
  /// Parses models in text form: set it to `text_parser()` of model/model.h (the functions there need no setting). If
  /// empty, text throws usage.no_text_parser.
  TextParser text_parser = {};
  bool verify_data = true;  ///< compare the CRC-32 of entries, and checksums of links, whenever bytes are copied
  /// The graph of an archive that is used as the model, named as for Archive::graph; other graphs are then ignored.
  /// Empty: the archive's model. For functions that open a file or bytes; usage.argument for other inputs. Of a model
  /// package, `pack` and `unpack` also take the name of a variant that no graph has: it means the graphs of all
  /// variants of this name, and the first graph becomes the model.
  std::string graph = {};
  std::vector<std::string> further_graphs = {};  ///< more that `pack` keeps, named as `graph`, which must be set
  /// `remote_files()` of remote.h. Called before a path is looked up as a file. Empty: all paths are files.
  RangesOpener open_ranges = {};
};

enum class Format : std::uint8_t {
  archive,
  onnx_inline,    ///< one ModelProto with all data in it; below 2 GiB
  onnx_external,  ///< a ModelProto and one data file beside it, or one for each tensor
  textproto,      ///< text with all data in it; by Model::save (model/model.h)
};

/// Checksums in the links of a model, besides the CRC-32 that every entry has.
enum class Checksum : std::uint8_t { none, sha1 };

/// A file to put into an archive beside the weights.
struct AddedFile {
  std::string name;                               ///< of the entry; not a C identifier, since those are keys of tensors
  std::filesystem::path path = {};                ///< the file that is read
  std::shared_ptr<const ByteSource> source = {};  ///< instead of a file; may be read more than once
};

/// A new name for an entry.
struct RenamedEntry {
  std::string from;
  std::string to;  ///< not a C identifier, since those are keys of tensors
};

/// Makes a graph of an archive a variant in its `manifest.json`, which describes a model package of ONNX Runtime: one
/// component for each folder with graphs (`model` for the root), one variant for each graph.
struct GraphVariant {
  std::string graph;  ///< named as for Archive::graph
  std::string ep;     ///< the execution provider, such as CPUExecutionProvider, or in short `cpu`, `cuda`, `openvino`
  std::string device = {};  ///< cpu, gpu or npu; empty: any
};

struct SaveOptions {
  std::uint64_t threshold = default_threshold;  ///< bytes; payloads of at least this many move out of the model
  std::uint64_t alignment = default_alignment;  ///< bytes, a power of two: where data outside the model begins
  Format format = Format::archive;
  bool all_sites = false;  ///< also move sparse values, defaults of function attributes and training info out
  bool attributes = true;  ///< also move tensors out of node attributes
  bool subgraphs = true;   ///< also out of graphs in nodes (If, Loop, Scan), where some runtimes find no external data
  /// For onnx_external: the data file's name, no path. `*` stands for the name of the model's file, so `*_data` gives
  /// each model of a folder its own data file; without `*`, the models of one folder share a file.
  std::string data_file = {};
  bool file_per_tensor = false;        ///< of onnx_external, not with data_file: one for each tensor, named by its key
  Checksum checksum = Checksum::none;  ///< of archive; reads the data twice
  // Like `checksum`, the members down to `rename` apply only to Format::archive.
  std::vector<AddedFile> add = {};  ///< side files, each name once; replace others of that name
  /// An archive whose side files are copied unless the model has one of that name; a file that is not a zip has none.
  std::filesystem::path side_files_of = {};
  /// New names for side files, also added ones, and in a folder also for models. They decide how a file is packed.
  std::vector<RenamedEntry> rename = {};
  std::vector<GraphVariant> variants = {};  ///< for the manifest, in this order: of equal matches the first is used
  std::vector<std::string> exclude = {};  ///< patterns (`*`, `?`, `[a-z]`) of paths in a folder that `pack` leaves out
  /// Of several models, the one that becomes the archive's model: its path in the folder, with or without `/model.onnx`
  /// or `.onnx`.
  std::string first = {};
  OutputOptions output = {};  ///< `threads` applies to Format::archive
  ProgressCallback progress = {};
};

}  // namespace ONNXAR_API onnxar
