// Gives several files their names, all or none.
#pragma once

#include <filesystem>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "base/folder.h"
#include "base/keyed_hash.h"
#include "base/output_file.h"
#include "base/output_target.h"
#include "onnxar/archive_writer.h"
#include "sink/destination.h"

namespace onnxar {

/// Publishes files one after the other. The destructor takes their names away again unless `keep` was called, so that a
/// failure leaves no part of an output. Files that replaced others stay: the old ones are gone, and without the new
/// ones even more would be lost. The files must outlive it. Not synchronised.
class Publication {
 public:
  Publication(base::Existing existing, base::Sync sync) noexcept : existing_(existing), sync_(sync) {}
  Publication(const Publication&) = delete;
  Publication& operator=(const Publication&) = delete;
  ~Publication();

  /// Gives a file its name. Errors: as OutputFile::publish.
  void publish(base::OutputFile& file);
  /// Notes a folder that got other names, such as those of folders in it, for `sync_names`.
  void note_folder(const std::shared_ptr<const base::Folder>& folder);
  /// Waits until the disk has the names of all files that were published so far: one sync for each folder, however many
  /// files are in it. Errors: io.*.
  void sync_names();
  /// Lets the files stay.
  void keep() noexcept { published_.clear(); }

 private:
  base::Existing existing_;
  base::Sync sync_;
  std::vector<base::OutputFile*> published_;
  std::set<std::shared_ptr<const base::Folder>> unsynced_;
};

// Finds and checks the files that a model is written to, before the first of them is opened.

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
