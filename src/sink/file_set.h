// A model of several files, which appear together.
#pragma once

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
#include "onnxar/bytes.h"
#include "onnxar/options.h"
#include "os/file.h"
#include "sink/destination.h"

namespace onnxar {

/// The model's file and others in its folder, or beneath one that is the output. All targets are claimed first, which
/// finds those that cannot be; then the others are written, then the model; `publish` gives them their names, the
/// model's last, so that a reader who sees it finds its data, too. A destructor discards what was not published, and
/// the folders that were made for it. No link is followed to any of them, whatever is done to the folder meanwhile. Not
/// synchronised.
class FileSet {
 public:
  /// Makes the folder, if that is the destination. Errors: as OutputFile::create; output.not_empty.
  FileSet(const Destination& destination, const SaveOptions& options);
  FileSet(const FileSet&) = delete;
  FileSet& operator=(const FileSet&) = delete;
  ~FileSet();

  /// Makes `name`, a path beneath the folder (a plain name where the destination is a file), one of the files.
  /// Errors: output.exists; usage.argument (another file has that name, ASCII case aside, or is a folder in its way; a
  /// link is there); io.not_a_file.
  void claim(const std::string& name);
  /// Writes a claimed file of `size` bytes. Errors: io.*.
  void write(const std::string& name, std::uint64_t size, const std::function<void(base::BufferedOutput&)>& fill);
  /// Writes the model and publishes all. Errors: io.*, output.exists (a target appeared meanwhile).
  void publish(const ByteSource& model);

  /// Where the model goes: links are followed.
  [[nodiscard]] const std::filesystem::path& model() const noexcept { return model_path_; }

 private:
  /// A folder and those that were made in it, by name.
  struct Made {
    std::shared_ptr<const base::Folder> folder;
    std::map<std::string, Made> within;
  };

  void open_folder(const Destination& destination);
  [[nodiscard]] std::shared_ptr<const base::Folder> folder_for(const std::filesystem::path& relative);
  static bool remove_within(const Made& made, os::File& here);
  void remove_folders() noexcept;
  void publish_files();

  const SaveOptions& options_;
  base::Existing existing_;
  std::optional<base::OutputFile> model_;  // not in a dry run to a folder
  std::filesystem::path model_path_;
  Made root_;
  std::shared_ptr<const base::Folder> above_;    // of a folder that was made to be the output
  std::string made_root_;                        // its name
  base::KeyedSet<std::string> files_claimed_;    // in small letters
  base::KeyedSet<std::string> folders_claimed_;  // the outermost ones
  std::vector<base::OutputFile> files_;
};

}  // namespace onnxar
