// Finds and checks the files that a model is written to, before the first of them is opened.
#pragma once

#include <filesystem>
#include <string>

#include "base/folder.h"
#include "base/keyed_hash.h"
#include "base/output_target.h"
#include "onnxar/options.h"

namespace onnxar {

/// Describes the destination of a plain model: a file, or a folder that also gets the side files and graphs.
struct Destination {
  std::filesystem::path path;  ///< path of the file or folder
  std::string model;           ///< the model's path in the folder, with `/`; empty if the destination is a file

  /// Returns the destination for `output`, which names a folder if it ends in `/`. The model's file in it has the path
  /// `name` without its extension, or `model` if `name` is empty. An archive is always a file.
  static Destination of(const std::filesystem::path& output, const std::filesystem::path& name, Format format);

  [[nodiscard]] bool is_folder() const noexcept { return !model.empty(); }
  /// Returns the existing folder that contains the output, on the same disk.
  [[nodiscard]] std::filesystem::path folder_above() const;
};

/// Refuses a folder that contains anything except folders. Throws output.not_empty.
void expect_empty(const base::Folder& folder);

/// Holds the places of the model's file and of other files: in the model's folder, or in and below the output folder.
/// Reads the file system and changes nothing. Not synchronised.
class FileTargets {
 public:
  /// Finds the model's place. Throws what base::find_target throws, output.not_empty, and io.not_a_file if a file is
  /// expected and the destination is a folder, or the reverse.
  FileTargets(const Destination& destination, const OutputOptions& options);

  /// Adds `name` to the files: a path below the folder, or a plain name if the destination is a file. Throws
  /// output.exists, io.not_a_file, and usage.argument if another file has that name, ignoring ASCII case, or needs a
  /// folder of that name, or if a symbolic link has it.
  void claim(const std::string& name);

  /// Returns the place of the model's file, after following links. In an output folder its name is a path below the
  /// folder.
  [[nodiscard]] const base::OutputTarget& model() const noexcept { return model_; }
  /// Returns what to do with existing files. Files in an output folder are always new.
  [[nodiscard]] base::Existing existing() const noexcept { return existing_; }
  /// True if the model and its files get their own folder.
  [[nodiscard]] bool is_folder() const noexcept { return is_folder_; }
  /// Returns the output folder if it must be made; otherwise an empty path.
  [[nodiscard]] const std::filesystem::path& folder_to_make() const noexcept { return to_make_; }

 private:
  void find_folder(const std::filesystem::path& path);
  void claim_folded(const std::string& small);
  /// Throws io.* if the file system does not allow this name in the folder, for example because it is too long.
  void expect_possible(const std::filesystem::path& name) const;

  bool is_folder_;
  base::Existing existing_;
  base::OutputTarget model_;  // its folder is the parent of `to_make_`, if that is set
  std::filesystem::path to_make_;
  std::filesystem::path root_;                   // the folder that the names of files are relative to
  std::string model_name_;                       // in lower case
  base::KeyedSet<std::string> files_claimed_;    // in lower case
  base::KeyedSet<std::string> folders_claimed_;  // the outermost folders
};

}  // namespace onnxar
