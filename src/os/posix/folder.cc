#include "os/folder.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <climits>
#include <memory>
#include <string_view>

#include "os/posix/file_status.h"
#include "os/posix/link_trust.h"
#include "os/posix/native.h"
#include "os/posix/system.h"

namespace onnxar::os {
namespace {

namespace fs = std::filesystem;

struct CloseFolder {
  void operator()(DIR* folder) const noexcept { ::closedir(folder); }
};

using Names = std::unique_ptr<DIR, CloseFolder>;

/// Opens the folder for reading: a handle for lookups can be neither read nor synced on all systems.
int open_to_read(Handle folder) noexcept {
  return uninterrupted([&] { return ::openat(descriptor_of(folder), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC); });
}

Names names_in(Handle folder, std::error_code& failed) noexcept {
  const int descriptor = open_to_read(folder);
  Names names(descriptor < 0 ? nullptr : ::fdopendir(descriptor));
  failed = outcome(names != nullptr);
  if (!names && descriptor >= 0) ::close(descriptor);  // otherwise the stream owns it
  return names;
}

}  // namespace

File open_folder(const fs::path& path, std::error_code& failed) noexcept {
  return opened_by([&] { return ::open(path.c_str(), lookup_flags); }, failed);
}

File open_folder_in(Handle folder, const fs::path& name, std::error_code& failed) noexcept {
  return opened_by([&] { return ::openat(descriptor_of(folder), name.c_str(), lookup_flags | O_NOFOLLOW); }, failed);
}

FileStatus status_in(Handle folder, const fs::path& name, std::error_code& failed) noexcept {
  struct stat status{};
  failed = outcome(::fstatat(descriptor_of(folder), name.c_str(), &status, AT_SYMLINK_NOFOLLOW) == 0);
  return file_status(status);
}

fs::path read_link(Handle folder, const fs::path& name, std::error_code& failed) {
  std::array<char, PATH_MAX> text{};
  const ssize_t length = ::readlinkat(descriptor_of(folder), name.c_str(), text.data(), text.size());
  failed = outcome(length >= 0);
  return length < 0 ? fs::path() : fs::path(text.data(), text.data() + length);
}

// Only sticky, world-writable folders such as /tmp need the rule: in any other folder, a user with write access could
// replace the target itself.
bool is_trusted_link(std::uint32_t folder_mode, std::uint32_t folder_owner, std::uint32_t link_owner,
                     std::uint32_t user) noexcept {
  const bool shared = (folder_mode & S_ISVTX) != 0 && (folder_mode & S_IWOTH) != 0;
  return !shared || link_owner == user || link_owner == folder_owner;
}

bool may_follow_link(Handle folder, const fs::path& name, std::error_code& failed) noexcept {
  struct stat link{};
  struct stat around{};
  failed = outcome(::fstatat(descriptor_of(folder), name.c_str(), &link, AT_SYMLINK_NOFOLLOW) == 0 &&
                   ::fstat(descriptor_of(folder), &around) == 0);
  return !failed && is_trusted_link(around.st_mode, around.st_uid, link.st_uid, ::geteuid());
}

// 0777: the umask takes permissions away, as it does for every other program.
std::error_code make_folder(Handle folder, const fs::path& name) noexcept {
  return outcome(::mkdirat(descriptor_of(folder), name.c_str(), 0777) == 0);
}

bool is_empty(Handle folder, std::error_code& failed) noexcept {
  const Names names = names_in(folder, failed);
  if (!names) return false;
  while (true) {
    errno = 0;  // readdir returns null at the end and after a failure
    const dirent* const entry = ::readdir(names.get());
    if (entry == nullptr) break;
    const std::string_view name = entry->d_name;
    if (name != "." && name != "..") return false;
  }
  failed = error_of(errno);
  return !failed;
}

std::error_code sync_folder(Handle folder) noexcept {
  std::error_code failed;
  const File readable = file_of(open_to_read(folder), failed);
  if (failed) return failed;
  failed = sync(readable);
  return failed.value() == EINVAL ? std::error_code() : failed;  // file systems that cannot sync a folder
}

std::error_code remove_file(Handle folder, const fs::path& name) noexcept {
  return outcome(::unlinkat(descriptor_of(folder), name.c_str(), 0) == 0);
}

std::error_code remove_folder(Handle folder, const fs::path& name) noexcept {
  return outcome(::unlinkat(descriptor_of(folder), name.c_str(), AT_REMOVEDIR) == 0);
}

}  // namespace onnxar::os
