// Plans the side files and further graphs that an edit of an archive adds, replaces or removes.
#pragma once

#include <cstddef>
#include <memory>
#include <set>
#include <string_view>
#include <vector>

#include "onnxar/bytes.h"
#include "onnxar/convert.h"
#include "onnxar/edit.h"

namespace onnxar {

/// Plans the files of an edit: marks entries in the editor as removed, and opens the new files. Writes nothing. The
/// options must outlive it.
class ReplacedFiles {
 public:
  /// Errors: as ArchiveEditor::remove; those of opening the files.
  ReplacedFiles(ArchiveEditor& editor, const ReplaceOptions& options);

  struct NewFile {
    std::string_view name;
    std::shared_ptr<const ByteSource> source;
  };
  /// The files to add: side files before graphs, as in every archive.
  [[nodiscard]] const std::vector<NewFile>& added() const noexcept { return added_; }
  /// Whether the entry stays in the archive, perhaps at another offset.
  [[nodiscard]] bool stays(std::size_t index) const { return !removed_.contains(index); }

  /// Refuses a model whose name among the graphs is the name of an entry that stays or is added (G4). Errors:
  /// archive.graph.name. Cost: O(fields of ModelProto itself + entries).
  void expect_free_name_of(Bytes model, const Archive& archive) const;

 private:
  std::vector<NewFile> added_;
  std::set<std::size_t> removed_;
};

}  // namespace onnxar
