// Plans an edit before anything is written: which entries it keeps, moves and removes, and the size of the file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "archive/entry_writer.h"
#include "onnxar/archive.h"
#include "onnxar/archive_writer.h"
#include "zip/layout.h"

namespace onnxar {

/// Lists the entries that an edit moves, in the order in which it appends them: side files before graphs, as in a new
/// archive.
class MovedEntries {
 public:
  MovedEntries(std::vector<ArchiveEntry> side_files, const std::vector<ArchiveEntry>& graphs);

  /// Returns the moved entries that go before an added entry of this name and that no earlier call returned. Cost:
  /// O(1), because an edit may add as many entries as it moves.
  std::span<const ArchiveEntry> due_before(std::string_view name);

 private:
  [[nodiscard]] std::size_t end_before(std::string_view name) const;

  std::vector<ArchiveEntry> entries_;
  std::size_t side_files_;  // the number of entries at the front that are not graphs
  std::size_t due_ = 0;     // the number of entries that were returned
};

/// Plans an edit. The new directory repeats the first `kept()` entries of the archive. The entries after them are a run
/// that ends with the old model (X2). The edit appends the entries of the run that stay. The plan does not open or
/// write files. Not synchronised.
class EditPlan {
 public:
  explicit EditPlan(Archive archive);

  [[nodiscard]] const Archive& archive() const noexcept { return archive_; }
  /// Returns the alignment of small entries: the N of the archive.
  [[nodiscard]] std::uint64_t alignment() const noexcept { return alignment_; }
  [[nodiscard]] std::size_t kept() const noexcept { return kept_; }

  /// Lists the entries that may be removed. ArchiveEditor::remove computes it once, because that takes a walk of all
  /// graphs.
  struct Removable {
    std::size_t end_of_weights = 0;
    std::set<std::size_t> unread;  ///< graphs that stay but are damaged or cannot be read to their end
  };
  /// Finds the entries that may be removed. Uses the default limits, because the editor has no others.
  static Removable removable_in(const Archive& archive);
  std::optional<Removable> removable;  ///< empty until it is computed

  void remove(std::size_t index);
  /// Throws usage.argument if a graph that stays cannot be read, because it may name the entry.
  void check_removal_of(const ArchiveEntry& entry) const;
  /// Performs the same check for all removed entries together, graphs that cannot be read included. Checked one by one,
  /// each of two such graphs would forbid the removal of the other.
  void check_removals() const;
  /// Throws archive.graph.shadow if an entry of this name would hide a weight from a graph that stays (G6). Cost:
  /// O(slashes of the name); walks the graphs once if the name could hide a weight.
  void check_addition_of(std::string_view name) const;
  [[nodiscard]] bool is_removed(std::size_t index) const { return removed_[index]; }
  /// Returns true if the entry belongs to the run and stays. The old model does not stay.
  [[nodiscard]] bool moves(std::size_t index) const;
  /// Compares the CRC-32 of each entry that moves, once, before anything is written; also in a dry run. Throws
  /// zip.data.crc if one is wrong.
  void verify_moved() const;
  [[nodiscard]] MovedEntries moved() const;

  /// Returns the part of the old directory that the new one repeats.
  [[nodiscard]] zip::KeptDirectory kept_directory() const;
  /// Returns the entries that the edit appends, in their order: moved entries, added entries, and a model of this size.
  [[nodiscard]] NamedSizes appended(EntrySizes added, std::uint64_t model_size) const;
  /// Returns the size of the file after adding these entries and a model of `model_size` bytes. Throws usage.argument
  /// and zip.limit.*, and zip.name.* for the added entries.
  [[nodiscard]] std::uint64_t size_with(EntrySizes added, std::uint64_t model_size, const zip::Limits& limits) const;

 private:
  /// Returns the names that would hide a weight from a graph that stays, each with the graph.
  [[nodiscard]] std::map<std::string, std::string_view> hiding_names() const;

  Archive archive_;
  std::uint64_t alignment_;
  std::size_t kept_;
  std::vector<bool> removed_;                                                    // by index
  mutable std::optional<std::map<std::string, std::string_view>> hiding_names_;  // empty until it is computed
  mutable std::size_t verified_from_;  // the index of the first entry that `verify_moved` has compared
};

}  // namespace onnxar
