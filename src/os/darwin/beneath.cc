#include <fcntl.h>

#include "os/folder.h"
#include "os/posix/system.h"

namespace onnxar::os {
namespace {

constexpr int read_flags = O_RDONLY | O_CLOEXEC | O_NONBLOCK;  // O_NONBLOCK: opening a pipe must not wait

}  // namespace

const int lookup_flags = O_SEARCH | O_DIRECTORY | O_CLOEXEC;

// O_NOFOLLOW_ANY refuses links in the whole path, but not a `..` that leaves the folder.
File open_beneath(Handle folder, const std::filesystem::path& relative, Links /*links*/,
                  std::error_code& failed) noexcept {
  return open_part_by_part(folder, relative, read_flags, failed);
}

File open_folder_beneath(Handle folder, const std::filesystem::path& relative, std::error_code& failed) noexcept {
  return open_part_by_part(folder, relative, lookup_flags, failed);
}

}  // namespace onnxar::os
