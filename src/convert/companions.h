// The companions of a model in an output: side files, further graphs and their weights.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "convert/loaded_model.h"
#include "convert/model_source.h"
#include "convert/plan.h"
#include "onnxar/archive.h"
#include "onnxar/archive_writer.h"
#include "onnxar/options.h"

namespace onnxar {

/// A link of an added graph, and the entries of this name in the archives that are packed: the graph was made for one.
struct AddedLink {
  std::string graph;
  std::vector<std::pair<const Archive*, ArchiveEntry>> meant;
};

/// The entries besides the model and its weights, under their new names.
struct ArchiveCompanions {
  std::vector<SideFile> side_files;
  /// The model's own graphs, whose links are rewritten.
  std::vector<PlacedGraph> graphs;
  /// Graphs that are written unchanged: those of the archive at `side_files_of`, and added ones.
  std::vector<SideFile> whole_graphs;
  /// The entries of that archive that its graphs name. They keep their names, since the graphs are unchanged.
  std::vector<ArchiveEntry> weights;
  std::vector<AddedLink> added_links;
  std::shared_ptr<const Archive> archive;  ///< that archive; null if there is none

  [[nodiscard]] bool has_graphs() const noexcept { return !graphs.empty() || !whole_graphs.empty(); }
  /// The names of all entries, those of `weights` first.
  [[nodiscard]] std::vector<std::string_view> names() const;
};

/// The side files and graphs of `model`, then those of the archive at `options.side_files_of` whose names they do not
/// have, with the weights that these graphs name; then `options.add`, each in place of one of the same name; all under
/// the names that `options.rename` gives them. Errors: those of opening and reading the files; usage.argument (a side
/// file named like a tensor's key, a name to be replaced that no file has, a side file that would become a graph by its
/// new name, or the other way round); for archives zip.name.*, archive.name.reserved. Errors about new names have
/// the path `output`.
ArchiveCompanions companions_to_save(const LoadedModel& model, const SaveOptions& options,
                                     const std::filesystem::path& output);

/// Maps a file that is added, unless its bytes are given. Errors: usage.argument (its name is that of a tensor's key);
/// io.*.
SideFile added_file(const AddedFile& added);

/// Excludes the names of side files, and of their folders, from the keys.
void reserve_names(KeyMaker& keys, const std::vector<SideFile>& side_files);

/// The total size of all side files.
std::uint64_t size_of(const std::vector<SideFile>& side_files);

/// Limits the number of folders by the size of the files and their names: each folder takes a block of the disk, and
/// a name of a thousand bytes can need five hundred of them. 4096 folders are always allowed. Errors:
/// zip.limit.folders, at the file that needs the first folder too many, in `output`. Cost: O(bytes of the names *
/// log(files)).
void check_folders(const std::vector<SideFile>& files, const std::filesystem::path& output);

}  // namespace onnxar
