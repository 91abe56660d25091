// Moves an archive to another folder, and back if what depends on the move fails.
#pragma once

#include <filesystem>
#include <memory>

#include "base/folder.h"
#include "os/file.h"

namespace onnxar {

/// The destructor moves the archive back, unless it is kept there. Edits are excluded until then. Readers of the file
/// are not disturbed. Not synchronised.
class MovedArchive {
 public:
  /// Moves the file. Errors: output.exists; usage.argument (the folder is on another disk); archive.busy; io.*.
  MovedArchive(const std::filesystem::path& path, std::shared_ptr<const base::Folder> into);
  MovedArchive(const MovedArchive&) = delete;
  MovedArchive& operator=(const MovedArchive&) = delete;
  ~MovedArchive();

  /// Keeps it there. With `sync`, waits until the disk has both names. Errors: io.*.
  void keep(bool sync);

 private:
  os::File lock_;
  std::shared_ptr<const base::Folder> from_, into_;
  std::filesystem::path name_;
  bool is_kept_ = false;
};

}  // namespace onnxar
