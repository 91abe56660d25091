// Writes a model of several files, which appear together.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/buffered_output.h"
#include "base/folder.h"
#include "base/output_file.h"
#include "onnxar/archive_writer.h"
#include "onnxar/bytes.h"
#include "os/file.h"
#include "sink/publication.h"

namespace onnxar {

/// Writes the files that FileTargets found: the claimed ones first, then the model. `publish` gives them their names,
/// the model's last, so that a reader that sees the model finds its data too. The destructor discards files that were
/// not published, and the folders that it made for them. Symbolic links to them are not followed, even if the
/// folder is swapped meanwhile. Not synchronised.
class FileSet {
 public:
  /// Makes the folder if necessary, and opens the model's file. Errors: as OutputFile::create;
  /// output.not_empty.
  FileSet(const FileTargets& targets, const OutputOptions& options);
  FileSet(const FileSet&) = delete;
  FileSet& operator=(const FileSet&) = delete;
  ~FileSet();

  /// Writes a claimed file of `size` bytes. Errors: io.*.
  void write(const std::string& name, std::uint64_t size, const std::function<void(base::BufferedOutput&)>& fill);
  /// Writes the model and publishes all. After an error no file is left, unless files were replaced. Errors: io.*,
  /// output.exists (a target appeared meanwhile).
  void publish(const ByteSource& model);

 private:
  FileSet(const OutputOptions& options, base::Existing existing);

  /// A folder, and the folders that this set made in it, by name.
  struct Made {
    std::shared_ptr<const base::Folder> folder;
    std::map<std::string, Made> within;
  };

  void make_folder(std::shared_ptr<const base::Folder> above, const std::string& name);
  void keep_spare_descriptors();
  [[nodiscard]] std::shared_ptr<const base::Folder> folder_for(const std::filesystem::path& relative);
  static bool remove_within(const Made& made, os::File& here);
  void remove_folders() noexcept;
  static void note_folders(const Made& made, Publication& publication);
  void close_files() noexcept;
  void publish_files();
  void publish_with(Publication& publication);

  const OutputOptions& options_;  // of the caller, who keeps them
  base::Existing existing_;
  std::optional<base::OutputFile> model_;
  Made root_;
  std::shared_ptr<const base::Folder> above_;  // the folder in which the output folder was made; null if it was there
  std::string made_root_;                      // the name of the output folder
  std::vector<base::OutputFile> files_;
  // Given up for cleaning up: walking through new folders takes two descriptors, and the process may have no others.
  std::array<os::File, 2> spare_;
};

}  // namespace onnxar
