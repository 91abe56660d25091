// Lists a folder of models, such as an export for Hugging Face or ONNX Runtime GenAI.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/keyed_hash.h"
#include "convert/model_source.h"
#include "onnxar/error.h"

namespace onnxar {

/// The files of a folder. Immutable.
class ModelFolder {
 public:
  /// Whether `path` leads to a folder that is read as one of models. A folder with an entry `__MODEL_PROTO` is one that
  /// PyTorch exported. Errors: io.*.
  static bool is_one(const std::filesystem::path& path);
  /// Lists the folder and those below it; links to folders are not followed. Files whose names begin with a dot are
  /// left out. Errors: io.not_a_file (there is no `.onnx` file in it); io.*. Cost: O(names * log names).
  static ModelFolder read(const std::filesystem::path& path);

  /// The models, which are the `.onnx` files, by their paths in the folder with `/`. The first is `model.onnx`, or the
  /// only one directly in the folder, or `onnx/model.onnx`, or the first by name. The others are in the order of names.
  [[nodiscard]] const std::vector<std::string>& models() const noexcept { return models_; }
  /// The path of a file of the folder.
  [[nodiscard]] std::filesystem::path path_of(const std::string& name) const;
  /// All files except the models, those in `data`, and the file at `output`. Links are followed if they stay in the
  /// folder, or lead into the folder of a model's own file: caches keep files as links into one folder. Errors:
  /// usage.argument (a link leads elsewhere); io.*.
  [[nodiscard]] std::vector<SideFile> side_files(const base::KeyedSet<std::string>& data,
                                                 const std::filesystem::path& output) const;
  /// Tells that the input was read as a folder, and what was left out.
  [[nodiscard]] Finding remark() const;

 private:
  explicit ModelFolder(std::filesystem::path path) : path_(std::move(path)) {}

  std::filesystem::path path_;
  std::vector<std::string> models_;  // paths in the folder, with `/`
  std::vector<std::string> others_;  // paths in the folder, with `/`, sorted
  std::vector<std::string> hidden_;  // as above
};

/// Warns of a configuration of ONNX Runtime GenAI that lists places in data files (`shared_initializers`): the weights
/// are in other places of an archive, and of a data file that is unpacked from it. Errors: those of reading it.
std::optional<Finding> remark_on_places(std::span<const SideFile> files);

}  // namespace onnxar
