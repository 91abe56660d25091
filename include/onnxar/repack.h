// Making an archive of a zip file, as zipalign does, and saying whether one is aligned.
//
// Entries are copied byte for byte, the model too. Only where an entry has to get another name is it looked up in the
// model whether a tensor refers to that entry.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "onnxar/archive_writer.h"
#include "onnxar/error.h"
#include "onnxar/visibility.h"

namespace ONNXAR_API onnxar {

struct RepackOptions {
  /// Of every entry, a power of two from 64 to 32768; entries of 1 MiB and more begin at a multiple of 4096 at least.
  /// Without it entries keep the alignment that is recorded for them, others get 64.
  std::optional<std::uint64_t> alignment;
  bool replace = false;         ///< replace an existing output; it may be the input
  bool sync = true;             ///< sync file and folder before returning
  bool dry_run = false;         ///< find every fault that planning can find, and write nothing
  std::size_t num_threads = 0;  ///< that write and sum: 1 for the caller's alone; 0: as many as there are cores
  /// So many times the input's bytes become of it at most: compressed entries of a few bytes may hold gigabytes.
  std::uint64_t max_expansion = 8;
  /// Names of entries whose CRC-32 the input states wrongly and whose bytes are known to be right all the same: the
  /// output states the CRC-32 that they have. Every other entry is verified as ever.
  std::vector<std::string> accept_crc = {};
  std::vector<RenamedEntry> rename = {};  ///< entries that get other names; none that the model refers to
};

struct RepackReport {
  std::uint64_t entries = 0;      ///< in the archive, the model among them
  std::uint64_t input_bytes = 0;  ///< of the input file
  std::uint64_t file_bytes = 0;   ///< of the archive
  /// Notes: that the input was no archive, and what was left out. Warnings: which CRC-32 was accepted.
  std::vector<Finding> remarks;
};

/// Writes the entries of the zip file at `input` to an archive at `output`: stored, aligned, in the order in which they
/// lie in the input, the model last. The model is the entry `__MODEL_PROTO`, `__MODEL_PROTO.onnx` or the only `*.onnx`
/// in the root. Folders are dropped, and so are bytes that belong to no entry: superseded models of an edited archive,
/// comments, holes. Where the input is an archive of ours without such bytes, the output is the same file; repacking
/// twice gives what repacking once gave.
///
/// With `replace` an archive at `output` is locked against edits from before the input is read until it is replaced.
/// Every CRC-32 is verified on the way, except those of `accept_crc`; an input that changes
/// meanwhile is io.changed. The output appears whole or not at all. Memory:
/// buffers, and some 200 bytes an entry; mapped or inflated bytes go straight to the file, or stay in blocks that both
/// files share, as with `convert`. Errors: io.*, output.exists, archive.busy, usage.argument (the alignment; an entry
/// of `accept_crc` whose CRC-32 is right already; a name to be replaced that no entry has or that the model refers to),
/// usage.no_such_entry (of `accept_crc`); zip.* (entries that overlap, encryption, wrong CRCs, names that no archive
/// may have, zip.limit.expansion, ...); archive.model.missing (no model, more than one, one in a folder, or one whose
/// links would have to be edited: `convert` reads those), archive.model.too_large, archive.name.reserved; wire.*,
/// onnx.* (the model, where entries get other names).
RepackReport repack(const std::filesystem::path& input, const std::filesystem::path& output,
                    const RepackOptions& options = {});

/// Where the data of one entry begins.
struct EntryAlignment {
  enum class Kind : std::uint8_t { stored, compressed, folder };
  std::string name;
  std::uint64_t offset = 0;  ///< of the data, absolute
  std::uint64_t off_by = 0;  ///< bytes behind the last multiple of the alignment; 0 of what need not be aligned
  Kind kind = Kind::stored;
};

/// Whether the stored entries of any zip file at `path` begin at multiples of `alignment`, a power of two. Entries in
/// the order of the file. Data is not read. Errors: io.*, zip.*, usage.argument. Cost: O(entries).
[[nodiscard]] std::vector<EntryAlignment> check_alignment(const std::filesystem::path& path, std::uint64_t alignment);

}  // namespace ONNXAR_API onnxar
