// Files that go along with a model into an archive.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "onnxar/options.h"
#include "sink/payload_layout.h"
#include "skeleton/loaded_model.h"

namespace onnxar {

/// What goes into an archive beside the weights of the model, all under the names that they get.
struct Kept {
  std::vector<SideFile> side_files;
  /// The model's own graphs, whose links are made anew.
  std::vector<PlacedGraph> graphs;
  /// Graphs that are written as they are: those of another archive, and those that were added.
  std::vector<SideFile> whole_graphs;
  /// The entries of the other archive that its graphs name. Their names stay, as the graphs do.
  std::vector<ArchiveEntry> weights;
  std::shared_ptr<const Archive> archive;  ///< the other one; null where there is none

  [[nodiscard]] bool has_graphs() const noexcept { return !graphs.empty() || !whole_graphs.empty(); }
  /// Of all entries: those of `weights` first.
  [[nodiscard]] std::vector<std::string_view> names() const;
};

/// The file that is added, mapped. Errors: usage.argument (it is named like a tensor's key); io.*.
SideFile added_file(const AddedFile& added);

/// The side files and graphs of `model`, then those of the archive at `options.side_files_of` whose names they do not
/// have, with the weights that these graphs name; then `options.add`, each in place of one of the same name; all under
/// the names that `options.rename` gives them. Errors: those of opening and reading the files; usage.argument (a side
/// file named like a tensor's key, a name to be replaced that no file has, a side file that would become a graph by its
/// new name, or the other way round); for archives zip.name.*, archive.name.reserved.
Kept kept_to_save(const LoadedModel& model, const SaveOptions& options);

/// Refuses files that would be in more folders than their names and bytes are worth: a folder takes a block of the
/// disk, and a name of a thousand bytes may ask for five hundred. 4096 are always allowed.
/// Errors: zip.limit.folders. Cost: O(bytes of the names * log(files)).
void check_folders(const std::vector<SideFile>& files);

}  // namespace onnxar
