// The companions of a model in a new archive: side files, further graphs and their weights.
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "onnxar/archive.h"
#include "sink/payload_layout.h"
#include "skeleton/loaded_model.h"

namespace onnxar {

/// The entries besides the model and its weights, under their new names.
struct ArchiveCompanions {
  std::vector<SideFile> side_files;
  /// The model's own graphs, whose links are rewritten.
  std::vector<PlacedGraph> graphs;
  /// Graphs that are written unchanged: those of the archive at `side_files_of`, and added ones.
  std::vector<SideFile> whole_graphs;
  /// The entries of that archive that its graphs name. They keep their names, since the graphs are unchanged.
  std::vector<ArchiveEntry> weights;
  std::shared_ptr<const Archive> archive;  ///< that archive; null if there is none

  [[nodiscard]] bool has_graphs() const noexcept { return !graphs.empty() || !whole_graphs.empty(); }
  /// The names of all entries, those of `weights` first.
  [[nodiscard]] std::vector<std::string_view> names() const;
};

}  // namespace onnxar
