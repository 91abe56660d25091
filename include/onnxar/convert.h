// Models from one form to another: `.onnx` with data inside or outside, and archives.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "onnxar/bytes.h"
#include "onnxar/error.h"
#include "onnxar/options.h"
#include "onnxar/visibility.h"

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
/// folder is made, or has to be empty (also with `save.replace`), so that no name in an archive reaches a file of
/// anything else. The model in it has the stem of `input`'s name (`model` for bytes) and `.onnx`, or `.textproto`; an
/// inline model that would reach 2 GiB has its data in `STEM.onnx.data` instead. Where `output` is a file, side files
/// are left out, and the report says how many.
///
/// Nothing appears under the output's name before all of it is written (and synced). Of several files the model comes
/// last; each gets a hidden name first. All are reached from the open output folder, through no symbolic link, so that
/// a folder that is swapped meanwhile is an error (io.changed) and leads nowhere else. An `output` that is itself a
/// symbolic link is followed as the kernel would with protected_symlinks set: not in a sticky folder that all may write
/// to, if neither the caller nor the folder's owner made it.
///
/// With `save.replace` an archive at `output` is locked against edits until it is replaced. The input is not locked:
/// what is copied from an archive is held against its CRC-32, and a file that changed while it was read is io.changed.
/// Memory: the model without its large payloads, twice, and some 1 KiB a tensor; no payload is gathered in memory, but
/// for an entry that an edit added and of which tensors use parts.
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
ConvertReport convert(const std::filesystem::path& input, const std::filesystem::path& output, const SaveOptions& save,
                      const LoadOptions& load = {});
/// The same of bytes in memory, of an archive or of a `.onnx` whose external data lies in `load.external_data_dir`.
/// Other makers' zips are not read from memory.
ConvertReport convert(Bytes input, const std::filesystem::path& output, const SaveOptions& save,
                      const LoadOptions& load = {});

}  // namespace ONNXAR_API onnxar
