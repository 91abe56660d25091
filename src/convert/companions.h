// Describes the side files and graphs of an output, and limits the number of their folders.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "convert/entries_by_content.h"
#include "convert/files_beside.h"
#include "convert/model_source.h"
#include "convert/payload_layout.h"
#include "onnxar/archive.h"
#include "onnxar/archive_writer.h"
#include "onnxar/error.h"

namespace onnxar {

/// Holds a link of an added graph and the entries that it may mean: those of this name in the packed archives, because
/// the graph was made for one of them.
struct AddedLink {
  std::string graph;
  std::vector<std::pair<const Archive*, ArchiveEntry>> meant;
};

/// Holds the entries besides the model and its weights, under their new names.
struct ArchiveCompanions {
  std::vector<SideFile> side_files;
  /// The model's own graphs. Their links are rewritten.
  std::vector<PlacedGraph> graphs;
  /// The graphs that are written unchanged: those of the archive at `side_files_of`, and added ones.
  std::vector<SideFile> whole_graphs;
  /// The entries that the graphs of that archive name. They keep their names, because the graphs are unchanged. Equal
  /// data of the model is linked to them and not written again.
  std::vector<SideFile> weights;
  std::optional<EntriesByContent> weights_by_content;  ///< empty if there is no such archive
  std::vector<AddedLink> added_links;
  std::vector<FileBeside> files_beside;
  std::shared_ptr<const Archive> archive;  ///< that archive; null if there is none
  std::vector<Finding> remarks;

  [[nodiscard]] bool has_graphs() const noexcept { return !graphs.empty() || !whole_graphs.empty(); }
  /// Returns the names of all entries, `weights` first.
  [[nodiscard]] std::vector<std::string_view> names() const;
};

/// Reserves the names of side files and of their folders, so that no key gets one of them.
void reserve_names(KeyMaker& keys, const std::vector<SideFile>& side_files);

/// Returns the total size of all side files.
std::uint64_t size_of(const std::vector<SideFile>& side_files);

/// Limits the number of folders in proportion to the size of the files and their names: each folder takes a block of
/// the disk, and a name of a thousand bytes can need five hundred folders. Always allows 4096 folders. Throws
/// zip.limit.folders at the file in `output` that needs the first folder over the limit. Cost: O(bytes of the names *
/// log(files)).
void check_folders(const std::vector<SideFile>& files, const std::filesystem::path& output);

/// Returns a warning if `check_folders` would refuse an archive with these files; otherwise nothing.
std::optional<Finding> remark_on_folders(const std::vector<SideFile>& files);

}  // namespace onnxar
