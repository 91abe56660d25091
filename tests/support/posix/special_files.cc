// Pipes, devices, links and small disks of POSIX systems.
#include "support/special_files.h"

#include <fcntl.h>
#include <sys/mount.h>
#include <sys/stat.h>

#include <cerrno>
#include <string>
#include <system_error>

namespace onnxar::testing {

namespace fs = std::filesystem;

bool make_pipe(const fs::path& path) {
  if (::mkfifo(path.c_str(), 0600) != 0) throw std::system_error(errno, std::generic_category(), path.string());
  return true;
}

fs::path null_device() { return "/dev/null"; }

os::File open_for_writing_only(const fs::path& path) {
  return os::File(os::handle_of(::open(path.c_str(), O_WRONLY | O_CLOEXEC)));
}

const Code code_without_right_to_read = Code::io_failed;

bool can_make_symlinks() { return true; }
void make_symlink(const fs::path& target, const fs::path& link) { fs::create_symlink(target, link); }

bool is_name_of_the_unseen(std::string_view /*name*/) { return false; }

bool folders_are_synced() { return true; }
bool parts_are_written_together() { return true; }

bool mapped_files_change() { return true; }

void make_way_for(const fs::path& /*path*/) {}

void replace_file(const fs::path& with, const fs::path& replaced) { fs::rename(with, replaced); }

SmallDisk::SmallDisk(const fs::path& folder, std::uint64_t size) : folder_(folder) {
  mounted_ = ::mount("tmpfs", folder.c_str(), "tmpfs", 0, ("size=" + std::to_string(size)).c_str()) == 0;
}

SmallDisk::~SmallDisk() {
  if (mounted_) ::umount2(folder_.c_str(), MNT_DETACH);
}

}  // namespace onnxar::testing
