// The entries of a new archive besides the model's weights.
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "onnxar/archive.h"
#include "onnxar/options.h"
#include "sink/payload_layout.h"
#include "skeleton/loaded_model.h"

namespace onnxar {

/// What goes into an archive besides the weights of the model, under the new names.
struct Kept {
  std::vector<SideFile> side_files;
  /// The model's own graphs, whose links are rewritten.
  std::vector<PlacedGraph> graphs;
  /// Graphs that are written unchanged: those of another archive, and added ones.
  std::vector<SideFile> whole_graphs;
  /// The entries of the other archive that its graphs name. They keep their names, since the graphs are unchanged.
  std::vector<ArchiveEntry> weights;
  std::shared_ptr<const Archive> archive;  ///< the other archive; null if there is none

  [[nodiscard]] bool has_graphs() const noexcept { return !graphs.empty() || !whole_graphs.empty(); }
  /// The names of all entries, those of `weights` first.
  [[nodiscard]] std::vector<std::string_view> names() const;
};

/// The side files and graphs of `model`, then those of the archive at `options.side_files_of` whose names they do not
/// have, with the weights that these graphs name; then `options.add`, each in place of one of the same name; all under
/// the names that `options.rename` gives them. Errors: those of opening and reading the files; usage.argument (a side
/// file named like a tensor's key, a name to be replaced that no file has, a side file that would become a graph by its
/// new name, or the other way round); for archives zip.name.*, archive.name.reserved.
Kept kept_to_save(const LoadedModel& model, const SaveOptions& options);

}  // namespace onnxar
