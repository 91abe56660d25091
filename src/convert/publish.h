// Where the files of an output go, and how they get their names: together, all or none.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/buffered_output.h"
#include "base/folder.h"
#include "base/keyed_hash.h"
#include "base/output_file.h"
#include "base/output_target.h"
#include "onnxar/archive_writer.h"
#include "onnxar/bytes.h"
#include "onnxar/options.h"
#include "os/file.h"

namespace onnxar {

/// The destination of a plain model: a file, or a folder that also gets the side files and graphs.
struct Destination {
  std::filesystem::path path;  ///< of the file, or of the folder
  std::string model;           ///< the model's path in the folder, with `/`; empty if the destination is a file

  /// `output` names a folder if it ends in `/`; the model's file in it has the path `name` without its extension, or
  /// `model` if `name` is empty. An archive is always a file.
  static Destination of(const std::filesystem::path& output, const std::filesystem::path& name, Format format);

  [[nodiscard]] bool is_folder() const noexcept { return !model.empty(); }
  /// The folder that contains the output. It exists already, on the same disk.
  [[nodiscard]] std::filesystem::path folder_above() const;
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

  /// The place of the model's file, after following links. In an output folder its name is a path below the folder.
  [[nodiscard]] const base::OutputTarget& model() const noexcept { return model_; }
  /// Files in a folder that is the output are always new.
  [[nodiscard]] base::Existing existing() const noexcept { return existing_; }
  /// True if the model and its files get a folder of their own.
  [[nodiscard]] bool is_folder() const noexcept { return is_folder_; }
  /// The output folder if it has to be made, else empty.
  [[nodiscard]] const std::filesystem::path& folder_to_make() const noexcept { return to_make_; }

 private:
  void find_folder(const std::filesystem::path& path);
  void claim_folded(const std::string& small);
  /// Asks the file system whether a file in the folder can have this name, which may be too long. Errors: io.*.
  void expect_possible(const std::filesystem::path& name) const;

  bool is_folder_;
  base::Existing existing_;
  base::OutputTarget model_;  // its folder is the one above `to_make_`, if that is set
  std::filesystem::path to_make_;
  std::filesystem::path root_;                   // the folder that the names of files count from
  std::string model_name_;                       // in small letters
  base::KeyedSet<std::string> files_claimed_;    // in small letters
  base::KeyedSet<std::string> folders_claimed_;  // the outermost ones
};

/// Writes the files of one output, and gives them their names together. The destructor discards files that were not
/// published, and the folders that it made for them. Links in the place of such a folder are not followed, even if it
/// is swapped meanwhile. Not synchronised.
class FileSet {
 public:
  /// Writes files at places that the caller names. The options must outlive it.
  FileSet(const OutputOptions& options, base::Existing existing) : options_(options), existing_(existing) {}
  /// Writes a model and the other files that FileTargets found. Makes the folder if necessary, and opens the model's
  /// file. Errors: as OutputFile::create; output.not_empty.
  FileSet(const FileTargets& targets, const OutputOptions& options);
  FileSet(const FileSet&) = delete;
  FileSet& operator=(const FileSet&) = delete;
  ~FileSet();

  /// Writes files into the folder `name` of `above` from now on, and makes it if necessary. Errors: io.*.
  void make_folder(std::shared_ptr<const base::Folder> above, const std::string& name);
  /// Writes files into this folder, and into those that it has, from now on.
  void set_folder(std::shared_ptr<const base::Folder> folder) {
    root_.folder = std::move(folder);
    root_.was_there = true;
  }

  using Fill = std::function<void(base::BufferedOutput&)>;
  /// Writes a file of `size` bytes, which has no name yet; `name` is a path below the folder. Errors: io.*.
  void write(const std::string& name, std::uint64_t size, const Fill& fill);
  /// As above, at a place that the caller found.
  void write(base::OutputTarget target, std::uint64_t size, const Fill& fill);
  /// Makes a symbolic link at the path `name` below the folder. Errors: output.exists, io.*.
  void write_link(const std::string& name, const std::filesystem::path& leads_to);
  /// Returns the folder at this path below the folder, and makes it if necessary. Errors: io.*.
  [[nodiscard]] std::shared_ptr<const base::Folder> folder_for(const std::filesystem::path& relative);
  /// Writes the file of the model, which is the last one.
  void write_model(const ByteSource& model);
  /// Gives all files their names. That of the last one appears when the disk has the others: a reader that finds the
  /// model, even after a crash, also finds its data. After an error no file is left, unless files were replaced: the
  /// old ones are gone, and without the new ones even more would be lost. Errors: io.*, output.exists (a target
  /// appeared meanwhile).
  void publish();

 private:
  /// A folder, and the folders that this set made in it, by name.
  struct Made {
    std::shared_ptr<const base::Folder> folder;
    std::map<std::string, Made> within;
    bool was_there = false;  // only in a folder that the caller set
  };
  using Folders = std::set<std::shared_ptr<const base::Folder>>;

  void write(base::OutputFile file, std::uint64_t size, const Fill& fill);
  void keep_spare_descriptors();
  static bool remove_within(const Made& made, os::File& here);
  void remove_folders() noexcept;
  static void add_with_new_names(Folders& folders, const Made& made);
  void sync_names(Folders& folders) const;

  const OutputOptions& options_;  // of the caller, who keeps them
  base::Existing existing_;
  std::optional<base::OutputFile> model_;  // opened before the others are written
  Made root_;
  std::shared_ptr<const base::Folder> above_;  // the folder in which the output folder was made; null if it was there
  std::string made_root_;                      // the name of the output folder
  std::vector<base::OutputFile> files_;
  std::vector<base::OutputName> links_;
  std::size_t published_ = 0;  // the first files, which have names and lose them if another one fails
  std::size_t published_links_ = 0;
  // Given up for cleaning up: walking through new folders takes two descriptors, and the process may have no others.
  std::array<os::File, 2> spare_;
};

}  // namespace onnxar
