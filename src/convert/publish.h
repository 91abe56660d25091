// Writes the files of an output, and gives them their names together: all or none.
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
#include "base/output_file.h"
#include "base/output_name.h"
#include "base/output_target.h"
#include "convert/file_targets.h"
#include "onnxar/bytes.h"
#include "onnxar/options.h"
#include "os/file.h"

namespace onnxar {

/// Writes the files of one output, and gives them their names together. The destructor discards files that were not
/// published, and the folders that it made for them. Does not follow a link that replaces such a folder meanwhile. Not
/// synchronised.
class FileSet {
 public:
  /// Writes files at places that the caller names.
  FileSet(const OutputOptions& options, base::Existing existing) : options_(options), existing_(existing) {}
  /// Writes a model and the other files that FileTargets found. Makes the folder if necessary, and opens the model's
  /// file. Throws what OutputFile::create throws, and output.not_empty.
  FileSet(const FileTargets& targets, const OutputOptions& options);
  FileSet(const FileSet&) = delete;
  FileSet& operator=(const FileSet&) = delete;
  ~FileSet();

  /// Writes files into the folder `name` of `above` from now on, and makes it if necessary. Throws io.*.
  void make_folder(std::shared_ptr<const base::Folder> above, const std::string& name);
  /// Writes files into this folder and its subfolders from now on.
  void set_folder(std::shared_ptr<const base::Folder> folder) {
    root_.folder = std::move(folder);
    root_.was_there = true;
  }

  using Fill = std::function<void(base::BufferedOutput&)>;
  /// Writes a file of `size` bytes, which has no name yet; `name` is a path below the folder. Throws io.*.
  void write(const std::string& name, std::uint64_t size, const Fill& fill);
  /// Does the same at a place that the caller found.
  void write(base::OutputTarget target, std::uint64_t size, const Fill& fill);
  /// Makes a symbolic link at the path `name` below the folder. Throws output.exists and io.*.
  void write_link(const std::string& name, const std::filesystem::path& leads_to);
  /// Returns the folder at this path below the folder, and makes it if necessary. Throws io.*.
  [[nodiscard]] std::shared_ptr<const base::Folder> folder_for(const std::filesystem::path& relative);
  /// Writes the file of the model, which is the last one.
  void write_model(const ByteSource& model);
  /// Gives all files their names. The last name appears when the disk has the others, so a reader that finds the model,
  /// even after a crash, also finds its data. After an error no file is left, except files that replaced others: the
  /// old ones are gone, and removing the new ones would lose even more. Throws io.*, and output.exists if a target
  /// appeared meanwhile.
  void publish();

 private:
  /// Holds a folder, and the folders that this set made in it, by name.
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

  OutputOptions options_;
  base::Existing existing_;
  std::optional<base::OutputFile> model_;  // opened before the others are written
  Made root_;
  std::shared_ptr<const base::Folder> above_;  // the folder in which the output folder was made; null if it existed
  std::string made_root_;                      // the name of the output folder
  std::vector<base::OutputFile> files_;
  std::vector<base::OutputName> links_;
  std::size_t published_ = 0;  // the number of files that have names, and lose them if another one fails
  std::size_t published_links_ = 0;
  // Closed before cleaning up: walking through new folders takes two descriptors, and the process may have no others.
  std::array<os::File, 2> spare_;
};

}  // namespace onnxar
