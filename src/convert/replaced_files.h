// Plans the side files and graphs that an edit adds and removes.
#pragma once

#include <cstddef>
#include <set>
#include <vector>

#include "base/kept.h"
#include "convert/model_source.h"
#include "onnxar/archive.h"
#include "onnxar/archive_writer.h"
#include "onnxar/bytes.h"
#include "onnxar/convert.h"

namespace onnxar {

/// Plans the files of an edit: marks entries as removed in the editor, and opens the new files. Writes nothing.
class ReplacedFiles {
 public:
  /// Throws usage.argument if an entry is named twice, and what ArchiveEditor::remove and opening the files throw.
  ReplacedFiles(ArchiveEditor& editor, base::Kept<const ReplaceOptions> kept);

  /// Returns the files to add: side files before graphs, as in every archive.
  [[nodiscard]] const std::vector<SideFile>& added() const noexcept { return added_; }
  /// True if the entry stays in the archive, possibly at another offset.
  [[nodiscard]] bool stays(std::size_t index) const { return !removed_.contains(index); }

  /// Throws archive.graph.name if the model's name among the graphs is the name of an entry that stays or is added
  /// (G4). Cost: O(fields of ModelProto itself + entries).
  void expect_free_name_of(Bytes model, const Archive& archive) const;

 private:
  std::vector<SideFile> added_;
  std::set<std::size_t> removed_;
};

}  // namespace onnxar
