// The verbs that read a model and write files: pack, unpack, check, extract, replace. Each does what the command of the
// same name does. A model is an archive, a `.onnx` file with data inside or in files beside it, or, with
// LoadOptions::text_parser, text; its content tells which.
//
// `repack`, `undo` and `recover` are in edit.h, `link` in link.h, `ls` in listing.h, `cat` in archive.h; `show`,
// `dump`, `freeze` and `diff` need protobuf and are in onnxar/model/.
//
// Threads: calls are independent of each other. Callbacks of options run on the thread of the call (options.h).
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "onnxar/archive.h"
#include "onnxar/bytes.h"
#include "onnxar/error.h"
#include "onnxar/options.h"
#include "onnxar/tensor.h"
#include "onnxar/version.h"

namespace ONNXAR_API onnxar {

/// What `pack`, `unpack`, Model::save and ModelWriter::save did, or would do.
struct ConvertReport {
  std::uint64_t tensors_outside = 0;      ///< tensors whose data is not in the ModelProto that was written
  std::uint64_t payloads = 0;             ///< entries or slices that hold their data; fewer if tensors share data
  std::uint64_t payload_bytes = 0;        ///< the bytes of these
  std::uint64_t model_bytes = 0;          ///< size of the ModelProto
  std::uint64_t side_files = 0;           ///< side files written: entries that no tensor names
  std::uint64_t side_files_left_out = 0;  ///< side files not written, because the output is one file and not a folder
  std::uint64_t graphs = 0;               ///< further graphs of the archive that were written
  std::uint64_t graphs_left_out = 0;      ///< further graphs not written, because the output is one file
  std::uint64_t file_bytes = 0;           ///< size of all files together
  std::filesystem::path model_path;       ///< the file that holds the model: the output, or a file in that folder
  std::string data_file;                  ///< of onnx_external: the name of the one data file; else empty
  std::vector<Finding> remarks;           ///< warnings and notes: what could not move, what was left out
  /// Moved tensors whose data was in typed fields such as `float_data`. It is raw data now: equal, in another field.
  std::uint64_t typed_made_raw = 0;
  /// Of `tensors_outside`, those that are not initializers of the graph itself: in subgraphs, functions and attributes.
  /// Some runtimes look for external data only at initializers of the graph.
  std::uint64_t nested_outside = 0;
};

/// Writes the model at `input` to `output` as an archive. `save.format` is Format::archive.
///
/// Everything except the data of moved tensors keeps its order and encoding, unknown fields included. An inline model
/// that is packed and unpacked comes back byte for byte if every moved tensor has `raw_data`, its fields are in
/// ascending order, it has no `data_location` or other field that says where data is, and its tag and length, and the
/// lengths of the messages around it, have their shortest encoding, and its metadata_props has none of the keys that
/// this library writes itself: `onnxar.link.*`, which describes a link, and `onnxar.model.name`, which names the model
/// of an archive among further graphs, and which `unpack` removes. A model with one data file, as `unpack` writes it,
/// comes back as the same two files if `save` asks for the same name, alignment and tensors to move.
///
/// Side files and further graphs of an archive (EntryKind, listing.h) are copied to the new archive.
///
/// Every file is first written under a hidden name, and the model's file gets its name last, when all are complete (and
/// synced). All files are opened relative to the output folder, never through a symbolic link,
/// so a folder that is swapped during the call is an error (io.changed). An `output` that is itself a symbolic link is
/// followed as the kernel does with protected_symlinks set: not in a sticky world-writable folder, unless the caller or
/// the folder's owner made the link.
///
/// With `save.output.overwrite`, an archive at `output` is locked against edits until it is replaced. The input is not
/// locked: bytes copied from an archive are compared with their CRC-32, and a file that changed while it was read is
/// io.changed. Memory: twice the model without its large payloads, and about 1 KiB per tensor. Payloads are not
/// collected in memory, except for an appended entry that tensors slice.
///
/// On file systems whose files can share blocks (XFS, btrfs), payloads of at least 1 MiB that begin at a multiple of
/// 4096 bytes in their source, as all of this size do in an archive, are not copied. Output and source share the blocks
/// until one of them is changed; the other does not see the change.
///
/// With `load.foreign_zips`, zips that are not archives are read too: PyTorch's ZIP_ARCHIVE (also as a folder),
/// tf2onnx's --large_model, a zip of one `.onnx` and its data files. A remark says so. Compressed entries are first
/// unpacked to `load.temporary_dir`.
///
/// If `input` is a folder, all models in it are packed as the overload for several models does: the `.onnx` files
/// directly in the folder, `model.onnx` first, else in the order of their names. All other files in it and below become
/// side files, except data files of these models, files and folders whose names begin with a dot, and `output`. So
/// `unpack` to a folder gives it back.
///
/// Errors: io.*, output.exists, archive.busy, zip.*, archive.*, wire.*, onnx.*; onnx.model.expansion; usage.argument
/// (options; a folder with a link that leads out of it).
ConvertReport pack(const std::filesystem::path& input, const std::filesystem::path& output,
                   const SaveOptions& save = {}, const LoadOptions& load = {});
/// Packs bytes in memory: an archive, or a `.onnx` whose external data is in `load.external_data_dir`. Foreign zips are
/// not read from memory.
ConvertReport pack(Bytes input, const std::filesystem::path& output, const SaveOptions& save = {},
                   const LoadOptions& load = {});

/// One of several models that go into one archive.
struct ModelFile {
  std::filesystem::path path;
  /// Its name among the graphs, with or without `.onnx`. Empty: the name that it has in its archive, or else the stem
  /// of `path`.
  std::string name = {};
};

/// Packs several models, of any form that `pack` reads, into one archive. The first becomes the model of the archive
/// and keeps its name in its metadata (`onnxar.model.name`); each of the others becomes a graph `NAME.onnx`
/// (spec/graphs.md). Further graphs and side files of those that are archives come along.
///
/// Tensors with the same type and equal bytes share one entry, in all models. Tensors of the same size and type whose
/// first 4096 bytes are equal are hashed once, under a random key, and each match is compared byte for byte once. So
/// the cost is linear in the bytes of all models, and equal data that is in several of them is written once. `unpack`
/// to a folder gives all models back, an inline one byte for byte as after packing it alone.
///
/// Errors: as above; usage.argument (no model; two models of one name, or a name that an entry cannot have; two
/// archives with different side files of one name).
ConvertReport pack(std::span<const ModelFile> models, const std::filesystem::path& output, const SaveOptions& save = {},
                   const LoadOptions& load = {});

/// Writes the model at `input` to `output` as plain ONNX, as `pack` writes an archive. `save.format` is onnx_external
/// or onnx_inline; Format::archive, which is the default of SaveOptions, means onnx_inline here.
///
/// An `output` that ends in `/` is a folder, into which side files and further graphs are written too. It is created,
/// or must be empty (also with `save.output.overwrite`), so that no name in an archive can overwrite a file. The
/// model's file gets the stem of `input`'s name (`model` for bytes) and `.onnx`. An inline model that would reach 2 GiB
/// has its data in `STEM.onnx.data` instead. If `output` is a file, side files are left out, and the report says how
/// many.
///
/// Errors: as `pack`; output.not_empty; onnx.model.too_large (an inline model in a single file would reach 2 GiB).
ConvertReport unpack(const std::filesystem::path& input, const std::filesystem::path& output,
                     const SaveOptions& save = {}, const LoadOptions& load = {});
ConvertReport unpack(Bytes input, const std::filesystem::path& output, const SaveOptions& save = {},
                     const LoadOptions& load = {});

struct CheckOptions {
  bool data = false;      ///< also compare the CRC-32 of every entry, and the checksums of links: reads all bytes
  bool strict = false;    ///< make warnings, and superseded tails of edits, errors
  LoadOptions load = {};  ///< where external data is, limits, the number of threads that compare CRCs
  /// With `data`: counts the bytes of entries whose CRC-32 was compared.
  ProgressCallback progress = {};
};

/// Finds all errors, warnings and notes about the archive or `.onnx` file at `path`.
///
/// The first fault of the directory ends the check of the container, since later parts depend on it. All local
/// headers, CRCs and tensors are checked. A tensor that ONNX's own checker refuses is an error or a warning here too. A
/// plain model whose name ends in .onnxar is a warning (archive.plain_model). Errors (thrown): archive.busy, io.*
/// (io.changed: there are faults, and the file is changing). Cost: O(directory + model), with `data` O(bytes).
[[nodiscard]] std::vector<Finding> check(const std::filesystem::path& path, const CheckOptions& options = {});

/// Whether no finding is an error.
[[nodiscard]] bool passed(const std::vector<Finding>& findings) noexcept;

struct ExtractOptions {
  bool raw = false;           ///< write the tensor's raw bytes alone; otherwise NumPy's format, `.npy`
  OutputOptions output = {};  ///< `threads` does not apply; `load.threads` does
  LoadOptions load = {};
  ProgressCallback progress = {};  ///< counts the bytes of tensors that are written
};

/// One tensor that was written.
struct ExtractedTensor {
  TensorInfo tensor;
  std::filesystem::path path;    ///< of the file
  std::uint64_t file_bytes = 0;  ///< its size
  std::string descr;             ///< the type of the elements in a `.npy`, as NumPy writes it: `<f4`
  /// NumPy does not have the tensor's type. The elements are its bits as integers of one or two bytes; elements below
  /// 8 bits take one byte each.
  bool as_integers = false;
};

/// Writes tensors of the model at `model`, each to its own file.
///
/// `which` is a tensor's name, else its key in the archive, else its site as TensorInfo has it
/// (`graph.node[3].attr.value`). Then `output` is the file, an existing folder, or a path that ends in `/`. If `which`
/// is none of these and contains `*`, `?` or `[`, it is a shell pattern for the names of tensors (for the sites of
/// tensors without a name), and `output` is a folder, created if need be. Files in a folder are named by the tensor's
/// key, as KeyMaker makes it. Only the data of these tensors is read, in pieces, and compared with the CRC-32 of the
/// archive. All files are complete before the first one appears. A failure leaves no file, except those that replaced
/// others.
///
/// Errors: usage.no_such_tensor, with similar names; usage.ambiguous_tensor, with the sites of the candidates;
/// usage.argument (also if the model's own file would be replaced); onnx.model.expansion; onnx.tensor.* (what
/// `check` calls an error; .no_data, .strings; .not_converted: NumPy has no such type, or typed data with too many
/// values or values out of range); output.exists, io.*, and as `pack`. Cost: O(model), and the bytes that are
/// written.
std::vector<ExtractedTensor> extract(const std::filesystem::path& model, std::string_view which,
                                     const std::filesystem::path& output, const ExtractOptions& options = {});

struct ReplaceOptions {
  std::uint64_t threshold = default_threshold;  ///< bytes; inline payloads of at least this many become entries
  bool all_sites = false;                       ///< as SaveOptions::all_sites
  bool attributes = true;                       ///< as SaveOptions::attributes
  bool subgraphs = true;                        ///< as SaveOptions::subgraphs
  bool append_external = false;                 ///< also take in data files beside the model
  std::vector<AddedFile> add = {};              ///< side files and graphs, which replace those of the same name
  std::vector<std::string> remove = {};         ///< names of side files and graphs
  OutputOptions output = {};                    ///< `overwrite` does not apply: the archive is edited in place
  ProgressCallback progress = {};               ///< counts the bytes that are appended
  /// The graph to replace, by a name that Archive::graph takes; the model then stays. A name that no graph has adds
  /// one. Empty: the model is replaced.
  std::string graph = {};
  /// The state that the edit was prepared from, as Archive::open gave it. If the file has a different state when it is
  /// locked, another edit came between, and the call is io.changed. Null: any state. Not owned; read during the call.
  const Archive* prepared_from = nullptr;
};

/// What a replacement did, or would do.
struct ReplaceReport {
  std::uint64_t tensors_outside = 0;  ///< tensors of the new model whose data is in entries
  std::uint64_t entries_added = 0;
  std::uint64_t bytes_added = 0;  ///< the data of these
  std::uint64_t model_bytes = 0;  ///< size of the ModelProto
  std::uint64_t file_bytes = 0;   ///< size of the archive
  std::uint64_t file_bytes_before = 0;
  std::vector<Finding> remarks;
};

/// Makes `model` the model of the archive at `archive`, by an edit (edit.h). No weight moves.
///
/// If the model is a link (link.h), locations that name its archive's file lead only to that file. Other
/// locations lead, in this order, to an entry of the archive; to a range of the archive's own file, named by its file
/// name and an absolute offset, that is inside one entry; with `append_external`, to a data file beside the model.
/// Locations of a model that is itself an archive lead to entries of that archive. Data that equals an entry of the
/// archive byte for byte is linked to that entry. Other data that is to be external becomes a new entry with a new key.
/// Entries that tensors no longer name stay. A link to a whole entry keeps its checksum.
///
/// With `options.graph`, `model` becomes that graph. No weight may follow the graph in the file, as with
/// ArchiveEditor::remove. All the above holds for it.
///
/// Further graphs stay, and so does the model's name among them (rule G4). Side files and graphs can be replaced and
/// removed under the conditions of ArchiveEditor::remove. Data that equals a side file or a graph is not linked to it.
///
/// A model with a link that leads nowhere is refused. After an error the archive is unchanged, byte for byte.
///
/// Errors:
/// usage.own_name (an entry has, or would have, the name of the archive's file apart from ASCII case, so that one could
/// be taken for the other); usage.argument (a graph that stays has a tensor in the bytes of the old model);
/// io.changed (`prepared_from`); archive.graph.name (the name of the model, twice or not free);
/// onnx.external_data.missing, .out_of_range, and all of `pack`; archive.busy, archive.torn, archive.model.too_large,
/// io.*. Cost: O(both models + graphs + directory + data added); data is compared only if size and CRC are equal.
ReplaceReport replace(const std::filesystem::path& archive, const std::filesystem::path& model,
                      const ReplaceOptions& options = {}, const LoadOptions& load = {});
/// As above, for a serialised ModelProto in memory. Data files are looked up in `load.external_data_dir` only.
ReplaceReport replace(const std::filesystem::path& archive, Bytes model, const ReplaceOptions& options = {},
                      const LoadOptions& load = {});
/// Applies only `options.add` and `options.remove`; the model stays. Errors: as above.
ReplaceReport replace(const std::filesystem::path& archive, const ReplaceOptions& options);

// --- Deprecated names ------------------------------------------------------------------------------------------------

[[deprecated("use pack or unpack")]]
inline ConvertReport convert(const std::filesystem::path& input, const std::filesystem::path& output,
                             const SaveOptions& save, const LoadOptions& load = {}) {
  return save.format == Format::archive ? pack(input, output, save, load) : unpack(input, output, save, load);
}
[[deprecated("use pack or unpack")]]
inline ConvertReport convert(Bytes input, const std::filesystem::path& output, const SaveOptions& save,
                             const LoadOptions& load = {}) {
  return save.format == Format::archive ? pack(input, output, save, load) : unpack(input, output, save, load);
}

[[deprecated("use replace")]]
inline ReplaceReport replace_model(const std::filesystem::path& archive, const std::filesystem::path& model,
                                   const ReplaceOptions& options = {}, const LoadOptions& load = {}) {
  return replace(archive, model, options, load);
}
[[deprecated("use replace")]]
inline ReplaceReport replace_model(const std::filesystem::path& archive, Bytes model,
                                   const ReplaceOptions& options = {}, const LoadOptions& load = {}) {
  return replace(archive, model, options, load);
}
[[deprecated("use replace")]]
inline ReplaceReport replace_files(const std::filesystem::path& archive, const ReplaceOptions& options) {
  return replace(archive, options);
}

}  // namespace ONNXAR_API onnxar
