// Declares what the library exports for the command; programs cannot include this. Threads: all functions may be called
// concurrently.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "onnxar/listing.h"
#include "onnxar/options.h"

namespace ONNXAR_API onnxar {

/// Removes every entry unless its name, or the name of one of its tensors, matches a shell pattern (`*`, `?`, `[a-c]`).
/// The model and the totals of the file stay. Cost: O(names * pattern).
void keep_matching(Listing& listing, std::string_view pattern);

/// Describes one graph of an archive that has several.
struct GraphTotals {
  std::string name;                ///< as Archive::graph takes it; empty for the model
  std::uint64_t model_bytes = 0;   ///< size of its ModelProto
  std::uint64_t weight_bytes = 0;  ///< size of the entries that its tensors name
  std::uint64_t shared_bytes = 0;  ///< size of those that other graphs' tensors also name
  /// The number of elements of initializers and of Constant nodes' values, running means and variances included. For a
  /// graph that cannot be read to its end, counts the elements before the fault.
  std::uint64_t parameters = 0;
};

/// Returns the totals of each graph, the model first; an empty list for an archive without further graphs. `listing`
/// must be what `ls` returned for the archive. Throws what `ls` throws. Cost: O(graphs + entries).
[[nodiscard]] std::vector<GraphTotals> totals_of_graphs(const Archive& archive, const Listing& listing);

/// Says where the data of one entry of a zip file begins.
struct EntryAlignment {
  enum class Kind : std::uint8_t { stored, compressed, folder };
  std::string name;
  std::uint64_t offset = 0;  ///< absolute
  std::uint64_t off_by = 0;  ///< bytes after the last multiple of the alignment; 0 if the entry need not be aligned
  Kind kind = Kind::stored;
};

/// Returns where the data of every entry of a zip file begins, relative to multiples of `alignment`, a power of two.
/// Accepts any zip file and reads no data. Throws io.*, zip.* and usage.argument. Cost: O(entries).
[[nodiscard]] std::vector<EntryAlignment> check_alignment(const std::filesystem::path& path, std::uint64_t alignment);

/// Writes a file that is not an archive as archives are written: the file gets the target's name when it is complete
/// and synced, and replaces nothing unless `options` allow it. A dry run checks that it could be written. Ignores
/// `threads`. Throws output.exists and io.*. Cost: O(bytes).
void write_file(const std::filesystem::path& target, Bytes bytes, const OutputOptions& options = {});

/// Cuts off what the edits of this process have appended, and makes their later writes fail, so that no archive is
/// torn. For handlers of signals that end the process (SIGINT, SIGBUS). Async-signal-safe. Waits at most 2 s for writes
/// of other threads. Does not cut off an edit that is writing its end record.
void abandon_edits() noexcept;

/// Returns the path, as `escaped_path` writes it, of the file that this library has mapped at `address`; empty if there
/// is none, or if more than 1024 files were mapped before. For handlers of SIGBUS, and of EXCEPTION_IN_PAGE_ERROR on
/// Windows: the file was shortened, or its disk failed. Async-signal-safe. The text is valid as long as the mapping.
[[nodiscard]] std::string_view mapped_file_at(const void* address) noexcept;

}  // namespace ONNXAR_API onnxar
