// Moves an archive to another folder, and back if what depends on the move fails.
#pragma once

#include <filesystem>
#include <memory>

#include "base/folder.h"
#include "os/file.h"

namespace onnxar {

/// Moves an archive; the destructor moves it back, unless `keep` was called. Excludes edits until then. Does not
/// disturb readers of the file. Not synchronised.
class MovedArchive {
 public:
  /// Moves the file. Throws output.exists, archive.busy, io.*, and usage.argument if the folder is on another disk.
  MovedArchive(const std::filesystem::path& path, std::shared_ptr<const base::Folder> into);
  MovedArchive(const MovedArchive&) = delete;
  MovedArchive& operator=(const MovedArchive&) = delete;
  ~MovedArchive();

  /// Keeps the archive in the new folder. With `sync`, waits until the disk has both names. Throws io.*.
  void keep(bool sync);

 private:
  os::File lock_;
  std::shared_ptr<const base::Folder> from_, into_;
  std::filesystem::path name_;
  bool is_kept_ = false;
};

}  // namespace onnxar
