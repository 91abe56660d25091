// The entries of an output besides the model and its weights: side files and further graphs.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "archive/graphs.h"
#include "convert/files_beside.h"
#include "convert/model_source.h"
#include "convert/plan.h"
#include "onnxar/archive.h"
#include "onnxar/archive_writer.h"
#include "onnxar/error.h"

namespace onnxar {

/// A link of an added graph, and what it may mean: the entries of this name in the archives that are packed, as the
/// graph was made for one.
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
  /// The entries of that archive that its graphs name. They keep their names, since the graphs are unchanged. Equal
  /// data of the model is linked to them and not written again.
  std::vector<SideFile> weights;
  std::optional<EntriesByContent> weights_by_content;  ///< nothing if there is no such archive
  std::vector<AddedLink> added_links;
  std::vector<FileBeside> files_beside;
  std::shared_ptr<const Archive> archive;  ///< that archive; null if there is none
  std::vector<Finding> remarks;

  [[nodiscard]] bool has_graphs() const noexcept { return !graphs.empty() || !whole_graphs.empty(); }
  /// The names of all entries, those of `weights` first.
  [[nodiscard]] std::vector<std::string_view> names() const;
};

/// Excludes the names of side files, and of their folders, from the keys.
void reserve_names(KeyMaker& keys, const std::vector<SideFile>& side_files);

/// The total size of all side files.
std::uint64_t size_of(const std::vector<SideFile>& side_files);

/// Limits the number of folders by the size of the files and their names: each folder takes a block of the disk, and
/// a name of a thousand bytes can need five hundred of them. 4096 folders are always allowed. Errors:
/// zip.limit.folders, at the file that needs the first folder too many, in `output`. Cost: O(bytes of the names *
/// log(files)).
void check_folders(const std::vector<SideFile>& files, const std::filesystem::path& output);

/// Returns the warning that `check_folders` would refuse the archive that has these files; none if it would not.
std::optional<Finding> remark_on_folders(const std::vector<SideFile>& files);

}  // namespace onnxar
