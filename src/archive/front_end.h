// What the library exports for the command; programs cannot include this.
// Threads: all functions may be called concurrently.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "onnxar/content.h"
#include "onnxar/options.h"

namespace ONNXAR_API onnxar {

/// Removes the entries of which neither the name nor a tensor's name matches a shell pattern (`*`, `?`, `[a-c]`). The
/// model and the totals of the file stay. Cost: O(names * pattern).
void keep_matching(Listing& listing, std::string_view pattern);

/// One graph of an archive that has several.
struct GraphTotals {
  std::string name;                ///< as for Archive::graph; empty: the model, which has no name
  std::uint64_t model_bytes = 0;   ///< of its ModelProto
  std::uint64_t weight_bytes = 0;  ///< of the entries that its tensors name
  std::uint64_t shared_bytes = 0;  ///< of those of them that tensors of other graphs name as well
  /// Elements of initializers and of values of Constant nodes, running means and variances among them. Of a graph that
  /// cannot be read to its end, those before the fault.
  std::uint64_t parameters = 0;
};

/// Returns what each graph has, the model first; nothing for an archive without further graphs. `listing` is what `ls`
/// returned for the archive. Errors: as `ls`. Cost: O(graphs + entries).
[[nodiscard]] std::vector<GraphTotals> totals_of_graphs(const Archive& archive, const Listing& listing,
                                                        const LoadOptions& options = {});

/// Where the data of one entry of a zip file begins.
struct EntryAlignment {
  enum class Kind : std::uint8_t { stored, compressed, folder };
  std::string name;
  std::uint64_t offset = 0;  ///< absolute
  std::uint64_t off_by = 0;  ///< bytes after the last multiple of the alignment; 0 if the entry need not be aligned
  Kind kind = Kind::stored;
};

/// All entries of any zip file, in order, against multiples of `alignment`, a power of two. Reads no data. Errors:
/// io.*, zip.*, usage.argument. Cost: O(entries).
[[nodiscard]] std::vector<EntryAlignment> check_alignment(const std::filesystem::path& path, std::uint64_t alignment);

/// Writes a file that is not an archive in the way that archives are written: it gets the target's name when it is
/// complete and synced, and replaces nothing unless `options` say so. A dry run finds out whether it could be written.
/// `threads` does not apply. Errors: output.exists, io.*. Cost: O(bytes).
void write_file(const std::filesystem::path& target, Bytes bytes, const OutputOptions& options = {});

/// For handlers of signals that end the process (SIGINT, SIGBUS): cuts off what the edits of this process have
/// appended, and makes their later writes fail. Otherwise the archive would be torn. Async-signal-safe. Waits at most 2
/// s for writes of other threads. An edit that is writing its end record is not cut off.
void abandon_edits() noexcept;

/// The path, as `escaped_path` writes it, of the file that this library has mapped at `address`; empty if there is
/// none, or if more than 1024 files were mapped before. For handlers of SIGBUS, and of EXCEPTION_IN_PAGE_ERROR on
/// Windows: that file was shortened, or its disk failed. Async-signal-safe. Valid as long as the mapping.
[[nodiscard]] std::string_view mapped_file_at(const void* address) noexcept;

}  // namespace ONNXAR_API onnxar
