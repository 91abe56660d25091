// Writes a loaded model as an archive or as plain ONNX, with its companions: side files, further graphs and their
// weights.
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
#include "convert/load.h"
#include "convert/model_source.h"
#include "convert/plan.h"
#include "convert/publish.h"
#include "onnxar/archive.h"
#include "onnxar/archive_writer.h"
#include "onnxar/convert.h"
#include "onnxar/error.h"
#include "onnxar/options.h"

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

/// The side files and graphs of `model`, then those of the archive at `options.side_files_of` whose names they do not
/// have, with the weights that these graphs name; then `options.add`, each in place of one of the same name; all under
/// the names that `options.rename` gives them. Errors: those of opening and reading the files; usage.argument (a side
/// file named like a tensor's key, a name to be replaced that no file has, a side file that would become a graph by its
/// new name, or a graph that would no longer be one); for archives zip.name.*, archive.name.reserved. Errors about new
/// names have the path `output`. The manifest gets `options.variants`.
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

/// Returns the warning that `check_folders` would refuse the archive that has these files; none if it would not.
std::optional<Finding> remark_on_folders(const std::vector<SideFile>& files);

/// Writes `model` to `output` in `options.format`. In a folder, its file is named after `input`. Errors: as `pack`
/// and `unpack`.
ConvertReport save_model(const LoadedModel& model, const std::filesystem::path& output, const SaveOptions& options,
                         const std::filesystem::path& input = {});

/// Writes `model` to an archive, with the side files and graphs of `companions` instead of the model's own. Errors: as
/// `pack`.
void save_archive(const LoadedModel& model, const ArchiveCompanions& companions, const std::filesystem::path& output,
                  const SaveOptions& options, ConvertReport& report);
/// Writes `model` as plain ONNX; its side files and graphs are written only if the destination is a
/// folder. Errors: as `unpack`.
void save_onnx(const LoadedModel& model, const Destination& destination, const SaveOptions& options,
               ConvertReport& report);

/// Writes `bytes`, a form of the model with all data inside, such as text. If the destination is a folder, the side
/// files and graphs of `model` are written too.
void save_alone(const ByteSource& bytes, const LoadedModel& model, const Destination& destination,
                const SaveOptions& options, ConvertReport& report);

/// Returns the path whose stem names the model's file in a folder: the model's name among several graphs, else the file
/// name of `path`, or `model` if a graph or side file is called like that.
std::filesystem::path name_in_folder(const LoadedModel& model, const std::filesystem::path& path);

}  // namespace onnxar
