// Converts and checks models in files: the verbs `pack`, `unpack`, `repack`, `check`, `extract` and `replace`.
//
//   onnxar::pack("model.onnx", "model.onnxar");
//   if (!onnxar::passed(onnxar::check("model.onnxar"))) throw std::runtime_error("damaged");
//   onnxar::unpack("model.onnxar", "again.onnx");
//
// Each verb does what the command of the same name does. A model is an archive, a `.onnx` file with data inside or in
// files beside it, or text (LoadOptions::text_parser); its content decides. `undo` and `recover` are in
// archive_writer.h, `link` in link.h, `ls` and `digest` in listing.h, `cat` in archive.h, `freeze` in model/model.h.
// Only the command and Python have `show`, `dump` and `diff`.
//
// Threads: calls are independent of each other.
#pragma once

#include "onnxar/archive.h"
#include "onnxar/options.h"
#include "onnxar/tensor.h"

namespace ONNXAR_API onnxar {

/// Reports what `pack`, `unpack`, Model::save and ModelWriter::save did, or would do in a dry run.
struct ConvertReport {
  std::uint64_t tensors_outside = 0;  ///< tensors whose data is not in the ModelProto that was written
  std::uint64_t payloads = 0;         ///< entries or slices that hold this data; fewer if tensors share it
  std::uint64_t payload_bytes = 0;
  std::uint64_t model_bytes = 0;          ///< of the ModelProto
  std::uint64_t side_files = 0;           ///< written: entries that no tensor names
  std::uint64_t side_files_left_out = 0;  ///< because the output is one file
  std::uint64_t graphs = 0;               ///< further graphs that were written
  std::uint64_t graphs_left_out = 0;      ///< because the output is one file
  std::uint64_t file_bytes = 0;           ///< of all files together
  std::filesystem::path model_path;       ///< the file with the model: the output, or a file in that folder
  std::string data_file;                  ///< of onnx_external: the name of the one data file
  std::vector<Finding> remarks;           ///< what could not move, what was left out
  std::uint64_t typed_made_raw = 0;       ///< moved tensors whose typed data, such as `float_data`, became raw data
  /// Moved tensors with raw data whose fields had an order or an encoding that `unpack` does not restore.
  std::uint64_t reencoded = 0;
  /// Of `tensors_outside`, those in subgraphs, functions and attributes: some runtimes ignore external data there.
  std::uint64_t nested_outside = 0;
  /// Bytes of data that equals other data and is not written again. Data that tensors already share in the input is not
  /// counted.
  std::uint64_t shared_bytes = 0;
};

/// Writes the model at `input` to `output` as an archive. `save.format` must be Format::archive. Side files and
/// additional graphs of an archive (listing.h) are copied. Everything except the data of moved tensors keeps its order
/// and encoding, including unknown fields; docs/guarantees.md says when `unpack` reproduces the model byte for byte.
///
/// Files are written under hidden names. When all are complete and synced, they get their names, the model last. All
/// are opened relative to the output folder and never through a symbolic link, so the call throws io.changed if that
/// folder is replaced. A symbolic link at `output` itself is followed under the rules of Linux's protected_symlinks.
///
/// With `save.output.overwrite`, an archive at `output` is locked against edits until it is replaced. The input is not
/// locked: copied entries are compared with their CRC-32, and the call throws io.changed if a file changes meanwhile.
/// Cost: O(bytes). Memory: twice the model without its large payloads, about 1 KiB per tensor, and each entry that an
/// edit appended and that tensors use only in part.
///
/// On file systems that can share blocks (XFS, btrfs), payloads of at least 1 MiB at a multiple of 4096 in their source
/// are not copied: both files share the blocks until one of them changes, which does not affect the other.
/// With `load.foreign_zips`, also reads PyTorch's ZIP_ARCHIVE (file or folder), tf2onnx's --large_model, and a zip of
/// one `.onnx` with its data files, and adds a remark.
///
/// If a graph defines a tensor's name more than once, the tensor's data is not moved into or out of the model, because
/// the place of the data decides which definition a runtime uses. A remark reports it. A format with all data inside
/// refuses such a tensor if its data is outside (onnx.graph.duplicate).
///
/// If `input` is a folder, packs the `.onnx` files in it, at any depth, as several models (below) under their paths,
/// and all other files as side files, except data files of these models, hidden files and folders, `output`, and what
/// `save.exclude` matches. docs/families.md ("Folders") says which is the first model, where data is looked for, what a
/// model package is, and which symbolic links are followed. Names that an archive cannot have are refused together,
/// each with a suggestion. `unpack` to a folder restores the folder.
///
/// Throws io.*, output.exists, archive.*, zip.*, wire.*, onnx.* (onnx.model.expansion: LoadOptions::max_expansion);
/// usage.argument (invalid options; in a folder, a symbolic link that leaves it or leads to a folder, or a Git LFS
/// pointer; a location in a graph of `save.add` that is both an entry and a file beside the graph, with different
/// bytes). A dry run throws what a run would throw, except errors of reading data and of writing; a run checks names
/// and graphs before it writes.
ConvertReport pack(const std::filesystem::path& input, const std::filesystem::path& output,
                   const SaveOptions& save = {}, const LoadOptions& load = {});
/// Packs an archive in memory, or a `.onnx` whose external data is in `load.external_data_dir`; not a foreign zip.
ConvertReport pack(Bytes input, const std::filesystem::path& output, const SaveOptions& save = {},
                   const LoadOptions& load = {});

/// One of several models that go into one archive.
struct ModelFile {
  std::filesystem::path path;
  /// The name of the graph, with or without `.onnx`. Empty: the name in its archive, or else the stem of `path`.
  std::string name = {};
};

/// Packs several models into one archive. The first, or `save.first`, becomes the model, and keeps its name in its
/// metadata (`onnxar.model.name`); each of the others becomes a graph `NAME.onnx` (spec/graphs.md). Additional graphs
/// and side files of archives are copied, too. Tensors of the same type with equal bytes share an entry, across all
/// models. Cost: linear in the bytes of all models. Throws what the overloads above throw; usage.argument (no model;
/// two models of one name, or a name that an entry cannot have; archives with different side files of one name).
ConvertReport pack(std::span<const ModelFile> models, const std::filesystem::path& output, const SaveOptions& save = {},
                   const LoadOptions& load = {});

/// Writes a model as plain ONNX. `save.format` is onnx_external or onnx_inline; the default, archive, means
/// onnx_inline. Writes and locks files like `pack`.
///
/// An `output` that exists as a folder or ends in `/` is a folder. It must be empty (even with `save.output.overwrite`)
/// or is created, so that no name in an archive can overwrite a file. It also gets side files and additional graphs.
/// The model's file is named by the stem of `input` (`model` for bytes) and `.onnx`. A model that would reach 2 GiB has
/// its data in `STEM.onnx.data` beside it, or in `NAME.onnx_data` if its folder is named `onnx`; other models have
/// their data inside. If `output` is a file, side files are left out.
/// Throws what `pack` throws; output.not_empty; onnx.model.too_large (one file would reach 2 GiB). Cost: O(bytes).
ConvertReport unpack(const std::filesystem::path& input, const std::filesystem::path& output,
                     const SaveOptions& save = {}, const LoadOptions& load = {});
ConvertReport unpack(Bytes input, const std::filesystem::path& output, const SaveOptions& save = {},
                     const LoadOptions& load = {});

struct RepackOptions {
  std::optional<std::uint64_t> alignment = {};      ///< as in WriterOptions; absent: as recorded, 64 without a record
  OutputOptions output = {};                        ///< with `overwrite`, the output may be the input
  std::uint64_t max_expansion = default_expansion;  ///< a compressed entry of a few bytes may hold gigabytes
  std::vector<RenamedEntry> rename = {};            ///< entries that the model does not name
  ProgressCallback progress = {};                   ///< bytes of entries that are written
};

struct RepackReport {
  std::uint64_t entries = 0;      ///< including the model
  std::uint64_t input_bytes = 0;  ///< of the input file
  std::uint64_t file_bytes = 0;   ///< of the archive
  std::vector<Finding> remarks;   ///< the input was not an archive; parts were left out
};

/// Makes an archive of a zip file, like zipalign: stores and aligns the entries, byte for byte and in the order of the
/// input's data, with the model last. The model is the entry `__MODEL_PROTO`, `__MODEL_PROTO.onnx`, or the only
/// `*.onnx` in the root; it is read only to check `onnxar.model.name`, and that no tensor names a renamed entry. If the
/// input is not an archive, other `*.onnx` are checked as graphs, except for their checksums. Drops folders, and bytes
/// outside the entries: superseded models of an edited archive, comments, gaps. Repacking again changes nothing.
/// Verifies every CRC-32. Handles locks, files that change and shared blocks like `pack`. Cost: O(bytes). Memory:
/// buffers, 200 bytes per entry, and the models if entries get new names, the model has a name, or there is
/// `__MACOSX/`.
/// Throws io.*, output.exists, zip.*; archive.* (.model.missing: there is no model, or several, or one that only `pack`
/// can read, since it is in a folder or its links would change); usage.argument (the alignment; a new name for an entry
/// that does not exist or that the model names); wire.*, onnx.* (of graphs, or with new names).
RepackReport repack(const std::filesystem::path& input, const std::filesystem::path& output,
                    const RepackOptions& options = {});

struct CheckOptions {
  bool data = false;      ///< also compare the CRC-32 of every entry, and the checksums of links: reads all bytes
  bool strict = false;    ///< make warnings, and superseded tails of edits, errors
  LoadOptions load = {};  ///< where external data is, limits, threads
  ProgressCallback progress = {};  ///< with `data`: bytes whose CRC-32 was compared
};

/// Returns all errors, warnings and notes about an archive or `.onnx` file. After a fault of the directory the rest of
/// the container is not checked, since it depends on the directory. A tensor that ONNX's own checker refuses is an
/// error or a warning here, too; a plain model named .onnxar is a warning (archive.plain_model). Throws archive.busy,
/// io.* (io.changed: the file has faults and is changing). Cost: O(directory + model), with `data` O(bytes).
[[nodiscard]] std::vector<Finding> check(const std::filesystem::path& path, const CheckOptions& options = {});

/// True if there are no errors among the findings.
[[nodiscard]] bool passed(const std::vector<Finding>& findings) noexcept;

struct ExtractOptions {
  bool raw = false;           ///< raw bytes; otherwise NumPy's format, `.npy`
  OutputOptions output = {};  ///< `threads` does not apply; `load.threads` does
  LoadOptions load = {};
  ProgressCallback progress = {};  ///< bytes of tensors that are written
};

struct ExtractedTensor {
  TensorInfo tensor;
  std::filesystem::path path;  ///< of the file; empty: the pattern skipped the tensor, which holds strings
  std::uint64_t file_bytes = 0;
  std::string descr;  ///< the type in the `.npy`, as NumPy writes it: `<f4`
  /// True if NumPy lacks the tensor's type. The elements are then its bits, as integers of one or two bytes, even if
  /// they have fewer than 8 bits.
  bool as_integers = false;
};

/// Writes tensors, each to a file.
/// `which` is a tensor's name (of several tensors, the initializer of the main graph), else its key in the archive,
/// else its site (`graph.node[3].attr.value`), else the output of its Constant node. A `~` may follow a site, to
/// distinguish it from a tensor of that name. `output` is then the file, an existing folder, or a path that ends in
/// `/`. If nothing matches and `which` has `*`, `?` or `[`, it is a shell pattern for names and outputs, or for the
/// sites of tensors that have neither; `output` is then a folder, which is created if needed. A pattern skips tensors
/// of strings, unless it matches only these. Files in a folder are named by the tensor's key (KeyMaker). Reads only the
/// data of these tensors, in pieces, and compares its CRC-32. All files are complete before the first appears. A
/// failure leaves no file, except files that already replaced others.
/// Throws usage.no_such_tensor, with similar names; usage.ambiguous_tensor, with the candidates' sites; usage.argument
/// (also if the model's own file would be replaced); onnx.tensor.* (.not_converted: NumPy lacks the type, or typed data
/// has too many values or some out of range); what `pack` throws. Cost: O(model + written bytes).
std::vector<ExtractedTensor> extract(const std::filesystem::path& model, std::string_view which,
                                     const std::filesystem::path& output, const ExtractOptions& options = {});

struct ReplaceOptions {
  std::uint64_t threshold = default_threshold;  ///< bytes; inline payloads of at least this many become entries
  bool all_sites = false;                       ///< as in SaveOptions, like the next two
  bool attributes = true;
  bool subgraphs = true;
  bool append_external = false;     ///< also take in data files beside the model
  std::vector<AddedFile> add = {};  ///< side files and graphs; replace others of the same name
  /// Names of side files and graphs to remove. The variants of a removed graph are removed, too (GraphVariant).
  std::vector<std::string> remove = {};
  std::vector<GraphVariant> variants = {};  ///< for the manifest of the archive, which is changed in the same edit
  OutputOptions output = {};                ///< `overwrite` does not apply
  ProgressCallback progress = {};           ///< bytes that are appended
  /// The graph to replace (named as for Archive::graph) or to add; the model then stays. Empty: the model is replaced.
  std::string graph = {};
  /// If set, an archive whose state the locked file must still have (else io.changed). It need not outlive the call.
  const Archive* prepared_from = nullptr;
};

/// Reports what a replacement did, or would do.
struct ReplaceReport {
  std::uint64_t tensors_outside = 0;  ///< tensors of the new model whose data is in entries
  std::uint64_t entries_added = 0;
  std::uint64_t bytes_added = 0;  ///< the size of their data
  std::uint64_t model_bytes = 0;  ///< of the ModelProto
  std::uint64_t file_bytes = 0;   ///< of the archive
  std::uint64_t file_bytes_before = 0;
  std::uint64_t shared_bytes = 0;  ///< size of the data that entries of the archive already had
  /// True if no entry stays in place. The file is then rewritten without its earlier states, which `undo` cannot
  /// restore.
  bool discards_states = false;
  std::vector<Finding> remarks;
};

/// Makes `model` the model of an archive, or its graph `options.graph`, by an edit (archive_writer.h). No weight moves.
///
/// A location in `model` leads to one of these:
/// - an entry of the archive that is not a side file or a graph;
/// - a part of such an entry, given by the file name of the archive and an offset in the file;
/// - with `append_external`, a data file beside the model.
///
/// If a location is both an entry and a file beside the model, even without `append_external`, the bytes of the tensor
/// must be equal in both, else the error is usage.argument. For a graph in `options.add`, the whole file must equal the
/// entry. Locations of a link (link.h) lead only to its archive's file; locations of a model that is an archive lead
/// only to its entries. Data that equals an entry (not a side file or graph) byte for byte is linked to that entry;
/// other external data becomes a new entry with a new key. Entries that tensors no longer name stay in the archive, as
/// do other graphs and the model's own name. A link to a whole entry keeps its checksum. The data is compared with it,
/// unless the archive already states it for that entry. The conditions of ArchiveEditor::remove apply to side files and
/// graphs that are replaced or removed. Every link is followed, even without LoadOptions::load_external_data. After an
/// error the archive is unchanged, byte for byte. The report warns (archive.entry.shared) if more tensor names use a
/// part of an entry than before: in a model that was merged from two archives, tensors of both may use the data of one.
/// Throws usage.own_name (an entry has, or would have, the name of the archive's file, ignoring case, so they could be
/// confused); zip.data.crc (of the old model or graph, from which the new one may be made; of entries that move);
/// usage.argument (a tensor of a graph that stays is linked to `__MODEL_PROTO`; a location with two meanings; two of
/// `add`, `remove` and `graph` name the same entry); io.changed; archive.* (.graph.name: the model's name is taken);
/// onnx.external_data.* (a link that leads nowhere; .checksum); what `pack` throws. Cost: O(both models + graphs +
/// directory + data that is added or whose checksum is computed); data of equal size and CRC-32 is compared.
ReplaceReport replace(const std::filesystem::path& archive, const std::filesystem::path& model,
                      const ReplaceOptions& options = {}, const LoadOptions& load = {});
/// Replaces the model by a serialised ModelProto, whose data files are in `load.external_data_dir`.
ReplaceReport replace(const std::filesystem::path& archive, Bytes model, const ReplaceOptions& options = {},
                      const LoadOptions& load = {});
/// Applies only `options.add` and `options.remove`; the model stays. With `graph` or `append_external`: usage.argument.
ReplaceReport replace(const std::filesystem::path& archive, const ReplaceOptions& options);

}  // namespace ONNXAR_API onnxar
