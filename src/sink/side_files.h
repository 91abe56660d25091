// Side files that are written with a model.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string_view>
#include <vector>

#include "onnxar/archive.h"
#include "onnxar/archive_writer.h"
#include "onnxar/options.h"
#include "sink/payload_layout.h"
#include "skeleton/loaded_model.h"
#include "source/resolver.h"

namespace onnxar {

// The companions of a model in a new archive: side files, further graphs and their weights.

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

// The names of a model's companions in a new archive.

/// Gives side files and graphs their new names. Errors: usage.argument (no file has the name; a side file would become
/// a graph, or a graph a side file).
void rename(ArchiveCompanions& companions, const std::vector<RenamedEntry>& renames);

/// Refuses names that the writer would refuse only after it has written all weights. Errors: zip.name.*,
/// archive.name.reserved, usage.argument (a key of a tensor).
void check_names(const ArchiveCompanions& companions);

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
