// Finds and checks the files that a model is written to, before the first of them is opened.
#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "base/folder.h"
#include "base/keyed_hash.h"
#include "base/output_target.h"
#include "onnxar/archive_writer.h"
#include "sink/destination.h"

namespace onnxar {

/// The places of the model's file and of other files: in its folder, or in the folder that is the output and below it.
/// Reads the file system and changes nothing. Not synchronised.
class FileTargets {
 public:
  /// Errors: as base::find_target; output.not_empty; io.not_a_file (the destination is a folder, or is not one).
  FileTargets(const Destination& destination, const OutputOptions& options);

  /// Makes `name`, a path below the folder (a plain name if the destination is a file), one of the files.
  /// Errors: output.exists; usage.argument (a different file has that name apart from ASCII case, or needs a folder of
  /// that name; a symbolic link has it); io.not_a_file.
  void claim(const std::string& name);

  /// The place of the model's file, after following links.
  [[nodiscard]] const base::OutputTarget& model() const noexcept { return model_; }
  /// Files in a folder that is the output are always new.
  [[nodiscard]] base::Existing existing() const noexcept { return existing_; }
  /// The output folder if it has to be made, else empty.
  [[nodiscard]] const std::filesystem::path& folder_to_make() const noexcept { return to_make_; }

 private:
  void find_folder(const std::filesystem::path& path);

  bool is_folder_;
  base::Existing existing_;
  base::OutputTarget model_;  // its folder is the one above `to_make_`, if that is set
  std::filesystem::path to_make_;
  base::KeyedSet<std::string> files_claimed_;    // in small letters
  base::KeyedSet<std::string> folders_claimed_;  // the outermost ones
};

/// Refuses a folder that has entries. Errors: output.not_empty.
void expect_empty(const base::Folder& folder);

}  // namespace onnxar
