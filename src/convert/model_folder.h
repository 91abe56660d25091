// Lists a folder of models, such as a repository of Hugging Face, a pipeline, or a model package of ONNX Runtime.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "archive/opened_input.h"
#include "base/keyed_hash.h"
#include "convert/model_source.h"
#include "convert/package.h"
#include "onnxar/error.h"
#include "onnxar/options.h"

namespace onnxar {

/// Describes a file of a folder. Both names are paths with `/`.
struct FolderFile {
  std::string name;   ///< in the folder
  std::string entry;  ///< in the archive: SaveOptions::rename may give it another one
};

/// Lists the files of a folder. Immutable.
class ModelFolder {
 public:
  /// True if `path` leads to a folder of models. False for a folder with an entry `__MODEL_PROTO`, which PyTorch
  /// exported. Throws io.*.
  static bool is_one(const std::filesystem::path& path);
  /// Lists the folder and the folders below it. Skips files whose names begin with a dot and files that
  /// SaveOptions::exclude matches, and applies `rename` and `first` to the others. Throws io.not_a_file if there is no
  /// `.onnx` file in it; usage.argument if there is a link to a folder, if `first` is not one of the models, or if a
  /// file has two new names; and io.*. Cost: O(names * (log names + patterns)).
  static ModelFolder read(const std::filesystem::path& path, const SaveOptions& save);

  /// Returns the models, which are the `.onnx` files. The first is `first`, or `model.onnx`, or the only one directly
  /// in the folder, or the first variant of the package, or `onnx/model.onnx`, or the first by name. The others are
  /// sorted by name.
  [[nodiscard]] const std::vector<FolderFile>& models() const noexcept { return models_; }
  [[nodiscard]] const std::filesystem::path& path() const noexcept { return path_; }
  /// Returns the path of a file of the folder.
  [[nodiscard]] std::filesystem::path path_of(const std::string& name) const;
  /// Opens a file of the folder by a path that does not leave the folder and that of the first model's own file. Throws
  /// usage.argument if a link leads elsewhere, and io.*.
  [[nodiscard]] OpenedInput open(const std::string& name) const;
  /// Returns the folders that the data of a model may be in: its own folder, then those that the package names for it.
  [[nodiscard]] const std::vector<std::string>& data_folders_of(const std::string& model) const {
    return data_folders_.at(model);
  }
  /// Returns all files except the models, those in `data`, and the file at `output`. Links are followed if they stay in
  /// the folder, or lead into the folder of a model's own file: caches keep files as links into one folder. The
  /// manifest of a package loses the places of data. Throws usage.argument if a link leads elsewhere or if a file is a
  /// Git LFS pointer, and io.*.
  [[nodiscard]] std::vector<SideFile> side_files(const base::KeyedSet<std::string>& data,
                                                 const std::filesystem::path& output) const;
  /// Returns the new names for files that are not in the folder.
  [[nodiscard]] const std::vector<RenamedEntry>& other_renames() const noexcept { return other_renames_; }
  /// Returns notes that the input was read as a folder and which files were omitted, and a warning if the manifest
  /// cannot be read.
  [[nodiscard]] std::vector<Finding> remarks() const;

 private:
  explicit ModelFolder(std::filesystem::path path) : path_(std::move(path)) {}
  void list(const SaveOptions& save);
  void note_data_folders();
  void put_first(const std::string& first);
  /// Returns the folder of the first model's file after following links. Throws io.*.
  [[nodiscard]] std::filesystem::path blobs() const;
  /// Returns the model of the first variant that exists; empty if none does. REQUIRES: models are sorted by name.
  [[nodiscard]] std::string first_variant() const;
  [[nodiscard]] std::optional<std::string> text_of(const std::string& name) const;

  std::filesystem::path path_;
  std::vector<FolderFile> models_;
  std::vector<FolderFile> others_;              // sorted
  std::vector<std::string> hidden_, excluded_;  // names
  std::vector<std::string> unmatched_;          // patterns
  std::vector<RenamedEntry> other_renames_;
  bool is_first_by_name_ = false;
  base::KeyedMap<std::string, std::vector<std::string>> data_folders_;
  Package package_;
  std::map<std::string, std::string> changed_;  // texts of the package without the places of data
};

/// Returns a warning if a configuration of ONNX Runtime GenAI lists places in data files (`shared_initializers`): in an
/// archive, and in a data file unpacked from it, the weights are in other places. Throws what reading it throws.
std::optional<Finding> remark_on_places(std::span<const SideFile> files);

}  // namespace onnxar
