// Files that not every system has, or lets every user make.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "onnxar/error.h"
#include "os/file.h"
#include "support/temp_dir.h"

namespace onnxar::testing {

/// Makes a pipe that has a name in a folder. False on systems whose folders have none.
bool make_pipe(const std::filesystem::path& path);

/// The device that reads as an empty file.
std::filesystem::path null_device();

/// Opens a file that cannot be read by this handle.
os::File open_for_writing_only(const std::filesystem::path& path);
/// The error of reading it: POSIX systems do not tell it from a handle that is not open.
extern const Code code_without_right_to_read;

/// Whether this process may make symbolic links. Windows asks for a privilege, and Wine 8 makes none.
bool can_make_symlinks();
/// Makes a symbolic link to a file, to a folder that exists, or to nothing.
void make_symlink(const std::filesystem::path& target, const std::filesystem::path& link);

/// Whether this can be the name of an output that is not published, or of a replaced file that is still mapped. Never
/// where such files have no names.
bool is_name_of_the_unseen(std::string_view name);

/// The names in the folder, without such names.
inline std::vector<std::string> visible_names(const TempDir& folder) {
  std::vector<std::string> names = folder.file_names();
  std::erase_if(names, is_name_of_the_unseen);
  return names;
}

/// Whether a sync of a folder does anything.
bool folders_are_synced();

/// Whether two parts are written by one call. Where they are not, a failure of the second part leaves the first
/// written, and the caller writes the rest once more.
bool parts_are_written_together();

/// Whether a file can be shortened, or removed, while it is mapped.
bool mapped_files_change();

/// Moves a file away that cannot be written anew in its place, because it is mapped.
void make_way_for(const std::filesystem::path& path);

/// Replaces a file, also one that is open or mapped, as programs do that write a new file and rename it.
void replace_file(const std::filesystem::path& with, const std::filesystem::path& replaced);

/// A small file system, mounted on an empty folder for the lifetime of the object.
class SmallDisk {
 public:
  SmallDisk(const std::filesystem::path& folder, std::uint64_t size);
  SmallDisk(const SmallDisk&) = delete;
  SmallDisk& operator=(const SmallDisk&) = delete;
  ~SmallDisk();

  /// False if this user may not mount one.
  [[nodiscard]] bool mounted() const { return mounted_; }

 private:
  std::filesystem::path folder_;
  bool mounted_;
};

}  // namespace onnxar::testing

// At the start of a test. They skip it where links cannot be made, or mapped files do not change.
#define ONNXAR_NEEDS_SYMLINKS() \
  if (!::onnxar::testing::can_make_symlinks()) GTEST_SKIP() << "no symbolic links can be made here"
#define ONNXAR_NEEDS_CHANGE_OF_MAPPED_FILES() \
  if (!::onnxar::testing::mapped_files_change()) GTEST_SKIP() << "this system does not change mapped files"
