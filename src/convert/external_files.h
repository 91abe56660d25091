// Maps the files that the links of a model name.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "archive/graphs.h"
#include "base/mapped_file.h"
#include "onnx/external_data.h"
#include "onnxar/bytes.h"

namespace onnxar {

/// Maps each file that a model's tensors name once. Opens only files beneath the model's folder, or beneath the folder
/// that replaces it. Move-only. Not synchronised.
class ExternalFiles {
 public:
  using Mapping = std::shared_ptr<const base::MappedFile>;

  /// `model` is the path of the `.onnx` file, whose folder holds the data. A `data_dir` that is not empty replaces that
  /// folder; `model` may then be empty. Errors: io.* (the folder does not exist).
  ExternalFiles(const std::filesystem::path& model, const std::filesystem::path& data_dir);

  /// Mappings by device and inode.
  using Files = std::map<std::pair<std::uint64_t, std::uint64_t>, Mapping>;
  /// Looks for data in these folders of `root`, in their order, instead of in the model's. Links may lead anywhere in
  /// `root`. A location that two of them have with different bytes is then usage.argument. Takes mappings from `files`,
  /// which other models may use too: data that several models name is then at one address.
  void look_in(const std::filesystem::path& root, std::vector<std::string> folders, std::shared_ptr<Files> files);

  struct Part {
    ByteSpan bytes;                          ///< with a share in the mapping
    const base::FileOrigin* file = nullptr;  ///< of the mapping
    bool is_whole = false;                   ///< whether it is all of the file
  };
  /// The bytes that `slice` names. If it has no length, they are `expected` long, or go to the end of the file.
  /// Errors: onnx.external_data.bad_location, .outside, .missing, .out_of_range, io.*; at `offset` of the model.
  Part resolve(const onnx::ExternalSlice& slice, std::optional<std::uint64_t> expected, std::uint64_t offset);

  /// The whole file that `location` names, which errors call `what`. Errors: as `resolve`, except .out_of_range.
  Mapping map(const std::string& location, std::uint64_t offset, std::string_view what = "data file");
  /// The path of the archive `name` of a link whose marker has this folder (LinkMarker::folder). A folder that the
  /// caller gave for data replaces it.
  [[nodiscard]] std::filesystem::path archive_path(const std::string& name, const std::string& folder) const;
  /// The file of that archive, which may be in any folder: it is used only if it is an archive in the state of the link
  /// (K5). Errors: onnx.external_data.missing; io.*.
  [[nodiscard]] Mapping map_archive(const std::string& name, const std::string& folder, std::uint64_t offset);

  /// The length in bytes of the regular file that `location` names; nothing if it does not exist, or if the model may
  /// not name it. Does not map the file.
  [[nodiscard]] std::optional<std::uint64_t> size_of(const std::string& location) const;

  /// The paths of the files mapped so far, as they were looked for: without `.`, and before links are followed.
  [[nodiscard]] const std::vector<std::filesystem::path>& paths() const noexcept { return paths_; }
  /// The real path of the folder that locations count from.
  [[nodiscard]] const std::filesystem::path& folder() const noexcept { return folder_; }
  /// The number of bytes of all files mapped so far for this model.
  [[nodiscard]] std::uint64_t size() const;

 private:
  /// A location in the model, where it is, and what errors call its file.
  struct Wanted {
    const std::string& location;
    Place place;
    std::string_view what;
  };
  [[nodiscard]] Mapping open(const Wanted& wanted);
  /// Returns null if the folder has no such file.
  [[nodiscard]] Mapping open_in(const std::string& folder, const Wanted& wanted);
  [[nodiscard]] Error missing(const Wanted& wanted, std::string_view fault) const;
  Mapping keep(const std::string& location, Mapping file);

  std::filesystem::path folder_;       // real path of the folder that the caller named
  std::filesystem::path link_folder_;  // real path of the folder of the model's own file, after symbolic links
  bool has_data_dir_;
  std::filesystem::path root_;               // real path of the folder that data must be in
  std::vector<std::string> folders_ = {""};  // in `root_`: where data is looked for
  std::vector<std::filesystem::path> paths_;
  std::map<std::string, Mapping> by_location_;
  std::shared_ptr<Files> files_ = std::make_shared<Files>();
};

/// Says why `location` cannot be a path beneath a folder; nothing if it can.
std::optional<std::string> location_fault(std::string_view location);

}  // namespace onnxar
