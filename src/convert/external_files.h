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

#include "base/file_origin.h"
#include "base/mapped_file.h"
#include "onnx/external_data.h"
#include "onnxar/bytes.h"

namespace onnxar {

/// Maps the files that a model's tensors name, each once. Opens only files beneath the model's folder, or beneath the
/// folder that replaces it. Move-only. Not synchronised.
class ExternalFiles {
 public:
  using Mapping = std::shared_ptr<const base::MappedFile>;

  /// `model` is the path of the `.onnx` file, whose folder holds the data. A `data_dir` that is not empty replaces that
  /// folder; `model` may then be empty. Throws io.* if the folder does not exist.
  ExternalFiles(const std::filesystem::path& model, const std::filesystem::path& data_dir);

  /// Holds mappings by device and inode.
  using Files = std::map<std::pair<std::uint64_t, std::uint64_t>, Mapping>;
  /// Makes later calls look for data in these folders of `root`, in their order, instead of in the model's folder.
  /// Links may lead anywhere in `root`. If two of the folders have different bytes for a location, resolving it throws
  /// usage.argument. Takes mappings from `files`, which other models may use too: data that several models name is then
  /// at one address.
  void look_in(const std::filesystem::path& root, std::vector<std::string> folders, std::shared_ptr<Files> files);

  struct Part {
    ByteSpan bytes;                          ///< shares the ownership of the mapping
    const base::FileOrigin* file = nullptr;  ///< the origin of the mapping
    bool is_whole = false;                   ///< true if it is the whole file
  };
  /// Returns the bytes that `slice` names. Without a length, they are `expected` long, or extend to the end of the
  /// file. Throws onnx.external_data.bad_location, .outside, .missing and .out_of_range, and io.*, at `offset` of the
  /// model.
  Part resolve(const onnx::ExternalSlice& slice, std::optional<std::uint64_t> expected, std::uint64_t offset);

  /// Returns the whole file that `location` names. Errors call it `what`. Throws what `resolve` throws, except
  /// .out_of_range.
  Mapping map(const std::string& location, std::uint64_t offset, std::string_view what = "data file");
  /// Returns the path of the archive `name` for a link whose marker has this folder (LinkMarker::folder). The caller's
  /// folder for data, if any, replaces it.
  [[nodiscard]] std::filesystem::path archive_path(const std::string& name, const std::string& folder) const;
  /// Maps the file of that archive. It may be in any folder, because it is used only if it is an archive in the state
  /// of the link (K5). Throws onnx.external_data.missing and io.*.
  [[nodiscard]] Mapping map_archive(const std::string& name, const std::string& folder, std::uint64_t offset);

  /// Returns the size in bytes of the regular file that `location` names; nothing if it does not exist, or if the model
  /// may not name it. Does not map the file.
  [[nodiscard]] std::optional<std::uint64_t> size_of(const std::string& location) const;

  /// Returns the paths of the files mapped so far, as they were looked up: without `.`, and before following links.
  [[nodiscard]] const std::vector<std::filesystem::path>& paths() const noexcept { return paths_; }
  /// Returns the real path of the folder that locations are relative to.
  [[nodiscard]] const std::filesystem::path& folder() const noexcept { return folder_; }
  /// Returns the number of bytes of all files mapped so far for this model.
  [[nodiscard]] std::uint64_t size() const;

 private:
  /// Holds a location in the model, its offset, and what errors call its file.
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
  std::vector<std::string> folders_ = {""};  // folders in `root_` in which data is looked up
  std::vector<std::filesystem::path> paths_;
  std::map<std::string, Mapping> by_location_;
  std::shared_ptr<Files> files_ = std::make_shared<Files>();
};

/// Returns why `location` cannot be a path beneath a folder; nothing if it can.
std::optional<std::string> location_fault(std::string_view location);

}  // namespace onnxar
