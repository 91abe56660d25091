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

#include "base/keyed_hash.h"
#include "convert/model_source.h"
#include "convert/package.h"
#include "onnxar/error.h"
#include "onnxar/options.h"

namespace onnxar {

/// A file of a folder. Both names are paths with `/`.
struct FolderFile {
  std::string name;   ///< in the folder
  std::string entry;  ///< in the archive: SaveOptions::rename may give it another one
};

/// The files of a folder. Immutable.
class ModelFolder {
 public:
  /// Whether `path` leads to a folder that is read as one of models. A folder with an entry `__MODEL_PROTO` is one that
  /// PyTorch exported. Errors: io.*.
  static bool is_one(const std::filesystem::path& path);
  /// Lists the folder and those below it, without files whose names begin with a dot and without what
  /// SaveOptions::exclude matches; of the others, applies `rename` and `first`. Errors: io.not_a_file (there is no
  /// `.onnx` file in it); usage.argument (a link to a folder, which is not followed; a model other than the first is a
  /// link that `side_files` would not follow; `first` is none of the models; two new names for a file); io.*. Cost:
  /// O(names * (log names + patterns)).
  static ModelFolder read(const std::filesystem::path& path, const SaveOptions& save);

  /// The models, which are the `.onnx` files. The first is `first`, or `model.onnx`, or the only one directly in the
  /// folder, or the first variant of the package, or `onnx/model.onnx`, or the first by name. The others are in the
  /// order of names.
  [[nodiscard]] const std::vector<FolderFile>& models() const noexcept { return models_; }
  [[nodiscard]] const std::filesystem::path& path() const noexcept { return path_; }
  /// The path of a file of the folder.
  [[nodiscard]] std::filesystem::path path_of(const std::string& name) const;
  /// The folders that the data of a model may be in: its own one, then those that the package names for it.
  [[nodiscard]] const std::vector<std::string>& data_folders_of(const std::string& model) const {
    return data_folders_.at(model);
  }
  /// All files except the models, those in `data`, and the file at `output`. Links are followed if they stay in the
  /// folder, or lead into the folder of a model's own file: caches keep files as links into one folder. The manifest of
  /// a package is without the places of data. Errors: usage.argument (a link leads elsewhere; a file is a pointer of
  /// Git LFS); io.*.
  [[nodiscard]] std::vector<SideFile> side_files(const base::KeyedSet<std::string>& data,
                                                 const std::filesystem::path& output) const;
  /// New names for files that are not in the folder.
  [[nodiscard]] const std::vector<RenamedEntry>& other_renames() const noexcept { return other_renames_; }
  /// Tells that the input was read as a folder, and what was left out; warns of a manifest that cannot be read.
  [[nodiscard]] std::vector<Finding> remarks() const;

 private:
  explicit ModelFolder(std::filesystem::path path) : path_(std::move(path)) {}
  void list(const SaveOptions& save);
  void note_data_folders();
  void put_first(const std::string& first);
  /// The folder that the first model's own file is in, after links. Errors: io.*.
  [[nodiscard]] std::filesystem::path blobs() const;
  /// The model of the first variant that is there; empty without one. REQUIRES: models are in the order of names.
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
  std::map<std::string, std::string> changed_;  // texts of the package without places of data
};

/// Warns of a configuration of ONNX Runtime GenAI that lists places in data files (`shared_initializers`): the weights
/// are in other places of an archive, and of a data file that is unpacked from it. Errors: those of reading it.
std::optional<Finding> remark_on_places(std::span<const SideFile> files);

}  // namespace onnxar
