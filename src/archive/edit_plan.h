// Plans an edit: the entries that it keeps, moves and removes, and the size of the file, before anything is written.
// Defined in edit.cc.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "onnxar/archive.h"
#include "zip/layout.h"

namespace onnxar {

/// The new directory of an edit repeats the first `kept()` entries of the archive. The entries after them are a run
/// that ends with the old model (X2). The edit appends those of the run that stay again, side files before graphs, as
/// in a new archive. The plan does not open or write files. Not synchronised.
class EditPlan {
 public:
  explicit EditPlan(Archive archive);

  [[nodiscard]] const Archive& archive() const noexcept { return archive_; }
  /// The alignment of small entries: the N of the archive.
  [[nodiscard]] std::uint64_t alignment() const noexcept { return alignment_; }
  [[nodiscard]] std::size_t kept() const noexcept { return kept_; }

  /// The entries that may be removed. ArchiveEditor::remove computes this once, because it takes a walk of all graphs.
  struct Removable {
    std::size_t end_of_weights = 0;
    std::vector<std::size_t> unread;  ///< graphs that cannot be read to their end
  };
  std::optional<Removable> removable;  ///< empty until it is computed
  void remove(std::size_t index);
  [[nodiscard]] bool is_removed(std::size_t index) const { return removed_[index]; }
  /// Whether the entry belongs to the run and stays.
  [[nodiscard]] bool moves(std::size_t index) const {
    return index >= kept_ && index + 1 < archive_.size() && !removed_[index];
  }

  /// The part of the old directory that the new one repeats.
  [[nodiscard]] zip::KeptDirectory kept_directory() const;
  /// The size of the file after adding these entries and a model of `model_size` bytes. Errors: usage.argument.
  [[nodiscard]] std::uint64_t size_with(std::span<const std::pair<std::string_view, std::uint64_t>> names_and_sizes,
                                        std::uint64_t model_size) const;

 private:
  [[nodiscard]] bool has_zip64_end() const;

  Archive archive_;
  std::uint64_t alignment_;
  std::size_t kept_;
  std::vector<bool> removed_;  // by index
};

}  // namespace onnxar
