// Models from one form to another: `.onnx` with data inside or outside, and archives.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "onnxar/bytes.h"
#include "onnxar/error.h"
#include "onnxar/options.h"
#include "onnxar/tensor.h"
#include "onnxar/version.h"

namespace ONNXAR_API onnxar {

/// What a conversion did.
struct ConvertReport {
  std::uint64_t tensors_outside = 0;  ///< tensors whose data is not in the ModelProto that was written
  std::uint64_t payloads = 0;         ///< entries or slices that hold them: fewer where tensors share data
  std::uint64_t payload_bytes = 0;
  std::uint64_t model_bytes = 0;          ///< of the ModelProto
  std::uint64_t side_files = 0;           ///< that went along: entries that no tensor names
  std::uint64_t side_files_left_out = 0;  ///< because the output is a single file: a folder would have taken them in
  std::uint64_t graphs = 0;               ///< further graphs of the archive that went along
  std::uint64_t graphs_left_out = 0;      ///< because the output is a single file
  std::uint64_t file_bytes = 0;           ///< of all files together
  std::filesystem::path model_path;       ///< of the file that the model is in: the output, or a file in that folder
  std::string data_file;                  ///< of onnx_external: the name of the one data file; else empty
  std::vector<Finding> remarks;           ///< warnings and notes: what could not move, what was left out
};

/// Reads the model at `input`, an archive, a `.onnx` file or (LoadOptions::text_parser) text, told apart by content,
/// and writes it to `output` in the form that `save` asks for.
///
/// All but the moved tensors keeps its order and encoding on the wire, unknown fields too: an inline model that became
/// an archive and comes back inline is the same file, byte for byte, where every moved tensor had `raw_data`, fields in
/// ascending order, and neither `data_location` nor anything else that says where data is, its tag and length, and the
/// lengths of the messages around it, in the shortest encoding. A model with one data file, as this call writes it,
/// comes back from an archive as the same two files if `save` asks for the same name, alignment and places of tensors.
///
/// Side files of an archive, entries that no tensor names and whose name is no C identifier, go along to another
/// archive. A plain model is written with them where `output` ends in `/` and so names a folder. The
/// folder is made, or has to be empty (also with `save.output.overwrite`), so that no name in an archive reaches a file
/// of anything else. The model in it has the stem of `input`'s name (`model` for bytes) and `.onnx`, or `.textproto`;
/// an inline model that would reach 2 GiB has its data in `STEM.onnx.data` instead. Where `output` is a file, side
/// files are left out, and the report says how many.
///
/// Nothing appears under the output's name before all of it is written (and synced). Of several files the model comes
/// last; each gets a hidden name first. All are reached from the open output folder, through no symbolic link, so that
/// a folder that is swapped meanwhile is an error (io.changed) and leads nowhere else. An `output` that is itself a
/// symbolic link is followed as the kernel would with protected_symlinks set: not in a sticky folder that all may write
/// to, if neither the caller nor the folder's owner made it.
///
/// With `save.output.overwrite` an archive at `output` is locked against edits until it is replaced. The input is not
/// locked: what is copied from an archive is held against its CRC-32, and a file that changed while it was read is
/// io.changed. Memory: the model without its large payloads, twice, and some 1 KiB a tensor; no payload is gathered in
/// memory, but for an entry that an edit added and of which tensors use parts.
///
/// On file systems whose files can share blocks (XFS, btrfs) payloads of 1 MiB and more that begin at a multiple of
/// 4096 bytes in their source, as those of every archive do, are not copied: output and source share their blocks on
/// the disk until one of them is changed, which the other does not see.
///
/// With `load.foreign_zips` a zip file that is no archive is read, too: PyTorch's ZIP_ARCHIVE (a folder as well),
/// tf2onnx's --large_model, a zip of one `.onnx` and its data files; a remark says so. What is compressed in it is
/// first unpacked to `load.temporary_dir`. Errors: io.*, output.exists, output.not_empty, archive.busy, zip.*,
/// archive.*, wire.*, onnx.*; onnx.model.too_large where an inline model would reach 2 GiB; onnx.model.expansion;
/// usage.argument (options).
ConvertReport pack(const std::filesystem::path& input, const std::filesystem::path& output,
                   const SaveOptions& save = {}, const LoadOptions& load = {});
/// Packs bytes in memory, of an archive or of a `.onnx` whose external data lies in `load.external_data_dir`. Foreign
/// zips are not read from memory.
ConvertReport pack(Bytes input, const std::filesystem::path& output, const SaveOptions& save = {},
                   const LoadOptions& load = {});

/// Writes a plain model, as `pack` does an archive: `save.format` is onnx_inline (which Format::archive, the default of
/// SaveOptions, stands for here) or onnx_external.
ConvertReport unpack(const std::filesystem::path& input, const std::filesystem::path& output,
                     const SaveOptions& save = {}, const LoadOptions& load = {});
ConvertReport unpack(Bytes input, const std::filesystem::path& output, const SaveOptions& save = {},
                     const LoadOptions& load = {});

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

// --- check.h ---
// Checking archives and models.

struct CheckOptions {
  bool data = false;      ///< also compare the CRC-32 of every entry, and checksums that links have: reads all bytes
  bool strict = false;    ///< warnings and superseded tails of edits become errors
  LoadOptions load = {};  ///< where external data lies, limits, how many threads compare CRCs
};

/// All that is wrong or worth a word about the archive or `.onnx` file at `path`.
///
/// The first fault of the directory ends the container's pass, as nothing after it can be trusted; local headers, CRCs
/// and the model's tensors are all looked at. What ONNX's own checker refuses of a tensor is an error here, too, or a
/// warning. A plain model whose name ends in .onnxar is a warning (archive.plain_model). Errors (thrown): archive.busy,
/// io.* (io.changed where faults are found in a file that changes). Cost: O(directory + model), with `data` O(bytes).
[[nodiscard]] std::vector<Finding> check(const std::filesystem::path& path, const CheckOptions& options = {});

/// Whether no finding is an error.
[[nodiscard]] bool passed(const std::vector<Finding>& findings) noexcept;

// --- extract.h ---
// Tensors of a model as files of their own.

struct ExtractOptions {
  bool raw = false;           ///< write the tensor's raw bytes alone; otherwise NumPy's format, `.npy`
  OutputOptions output = {};  ///< `threads` does not apply: those of `load` read
  LoadOptions load = {};
};

/// One tensor that was written.
struct ExtractedTensor {
  TensorInfo tensor;
  std::filesystem::path path;    ///< of the file
  std::uint64_t file_bytes = 0;  ///< its size
  std::string descr;             ///< the type of the elements in a `.npy`, as NumPy writes it: `<f4`
  /// Whether NumPy lacks the tensor's type: the elements are then its bits as integers of one byte or two, those
  /// below 8 bits one a byte.
  bool as_integers = false;
};

/// Writes one tensor of the model at `model`, in whatever form it is, from whatever site.
///
/// `which` is the tensor's name, else its key in the archive, else its site as TensorInfo has it
/// (`graph.node[3].attr.value`); then `output` is the file, or a folder that exists or a path that ends in `/`. Where
/// no tensor has that name, key or site and it holds `*`, `?` or `[`, it is a pattern, as shells have them, for the
/// names (the sites of tensors without one) of tensors, and `output` a folder, made if need be; a file in it is named
/// by the tensor's key as KeyMaker makes it. No data but that of these tensors is looked at; it is copied a piece at a
/// time, and what the archive has a CRC-32 for is verified. All files are complete before the first appears.
///
/// Errors: usage.no_such_tensor, naming near names; usage.ambiguous_tensor, with the sites of the candidates;
/// usage.argument; onnx.model.expansion; onnx.tensor.* (what `check` calls an error; .no_data, .strings;
/// .not_converted: NumPy has no such type, or typed data of too many values or out of range); output.exists, io.*, and
/// as `convert`. Cost: O(model) and what is written.
std::vector<ExtractedTensor> extract(const std::filesystem::path& model, std::string_view which,
                                     const std::filesystem::path& output, const ExtractOptions& options = {});

// --- replace.h ---
// Another model for an archive, in place: no weight is moved.

struct ReplaceOptions {
  std::uint64_t threshold = 1024;        ///< bytes; inline payloads of at least this many become entries
  bool all_sites = false;                ///< as SaveOptions::all_sites
  bool attributes = true;                ///< as SaveOptions::attributes
  bool append_external = false;          ///< take data files beside the model in, too
  std::vector<AddedFile> add = {};       ///< side files and graphs, each in the place of one of the same name
  std::vector<std::string> remove = {};  ///< side files and graphs that go
  OutputOptions output = {};             ///< `overwrite` does not apply: the archive is edited in place
};

/// What a replacement did, or would do.
struct ReplaceReport {
  std::uint64_t tensors_outside = 0;  ///< tensors of the new model whose data is in entries
  std::uint64_t entries_added = 0;
  std::uint64_t bytes_added = 0;  ///< of data in them
  std::uint64_t model_bytes = 0;  ///< of the ModelProto
  std::uint64_t file_bytes = 0;   ///< of the archive
  std::uint64_t file_bytes_before = 0;
  std::vector<Finding> remarks;
};

/// Makes `model` the model of the archive at `archive`, by an edit (edit.h).
///
/// Where the model is itself a link (link.h), what it says of its archive's file leads to that file and nowhere else.
/// Other links lead, in this order, to an entry of the archive; to a range of the archive's own file, given by
/// its file name and an absolute offset, that lies in one entry; with `append_external` to a data file beside the
/// model. Links of a model that is itself an archive lead to that one's entries. Data that the archive has in an entry,
/// byte for byte, is linked to it; other data that is to be outside becomes a new entry, whose key no entry has.
/// Entries that no tensor refers to any more stay, and so does the checksum of a link to a whole entry.
///
/// Further graphs stay, and so does the name that the model has among them (spec G4). Side files and graphs can be
/// replaced and removed as ArchiveEditor::remove has it: where no weight lies after them. Data that equals a side file
/// or a graph byte for byte is not linked to it: that entry stays what it is.
///
/// A model that has a link which leads nowhere is refused; after any error the archive is as it was, byte for byte.
/// Errors: usage.own_name (an entry has, or would have, the name of the archive's file, ASCII case aside, so that one
/// could be taken for the other); usage.argument (a tensor of a graph that stays is in the bytes of the old model);
/// archive.graph.name (the name of the model, twice or not free); onnx.external_data.missing, .out_of_range and all of
/// `convert`; archive.busy, archive.torn, archive.model.too_large, io.*. Cost: O(both models + graphs + directory +
/// data added); data is compared where size and CRC agree.
ReplaceReport replace(const std::filesystem::path& archive, const std::filesystem::path& model,
                      const ReplaceOptions& options = {}, const LoadOptions& load = {});

/// The same for a serialised ModelProto in memory; data files are looked for in `load.external_data_dir` alone.
ReplaceReport replace(const std::filesystem::path& archive, Bytes model, const ReplaceOptions& options = {},
                      const LoadOptions& load = {});

/// Only `options.add` and `options.remove`: the model stays what it is. Errors: as above.
ReplaceReport replace(const std::filesystem::path& archive, const ReplaceOptions& options);

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
