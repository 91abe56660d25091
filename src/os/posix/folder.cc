// Opens folders, and makes, renames and removes the files in them, on POSIX systems.
#include "os/folder.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#ifdef __linux__
#include <linux/openat2.h>
#include <sys/syscall.h>
#else
#include <sys/stdio.h>
#endif

#include <array>
#include <climits>
#include <cstdio>
#include <iterator>
#include <memory>
#include <string_view>
#include <utility>

#include "os/posix/native.h"

namespace onnxar::os {
namespace {

namespace fs = std::filesystem;

#ifdef __linux__
constexpr int lookup_flags = O_PATH | O_DIRECTORY | O_CLOEXEC;  // for a folder in which names are looked up
#else
constexpr int lookup_flags = O_SEARCH | O_DIRECTORY | O_CLOEXEC;
#endif
constexpr int read_flags = O_RDONLY | O_CLOEXEC | O_NONBLOCK;  // O_NONBLOCK: opening a pipe must not wait

// The mode of a new file. The umask takes permissions away.
constexpr mode_t for_all = 0666, for_owner = 0600;

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

bool is_link(Handle folder, const fs::path& name) noexcept {
  std::error_code ignored;
  return status_in(folder, name, ignored).kind == FileKind::link && !ignored;
}

/// Opens the path part by part, the last one with `last_flags`, where the system cannot check a whole path. Follows no
/// link at all: to resolve a link in user space without a race, every step of its target would need the same
/// walk.
File open_part_by_part(Handle folder, const fs::path& relative, int last_flags, std::error_code& failed) noexcept {
  File here;
  failed = relative.empty() ? error_of(ENOENT) : std::error_code();
  for (auto part = relative.begin(); part != relative.end(); ++part) {
    if (*part == ".." || relative.is_absolute()) {
      failed = error_of(EXDEV);
      return {};
    }
    const bool last = std::next(part) == relative.end();
    const int flags = last ? last_flags : lookup_flags;
    const Handle at = here.valid() ? here.get() : folder;
    const auto open = [&] { return ::openat(descriptor_of(at), part->c_str(), flags | O_NOFOLLOW); };
    File next = opened_by(open, failed);
    if (!next.valid()) {
      // O_NOFOLLOW fails with ELOOP or ENOTDIR at a link. Callers distinguish "outside" from "missing" by this code.
      if ((failed.value() == ELOOP || failed.value() == ENOTDIR) && is_link(at, *part)) failed = error_of(EXDEV);
      return {};
    }
    here = std::move(next);
  }
  return here;
}

/// rename_to_free_name for file systems that do not know such a call. A hard link never replaces a file either; between
/// its two calls the file has both names, which does no harm.
std::error_code rename_by_link(Handle folder, const fs::path& from, Handle into, const fs::path& to) noexcept {
  const int here = descriptor_of(folder);
  const std::error_code failed = outcome(::linkat(here, from.c_str(), descriptor_of(into), to.c_str(), 0) == 0);
  if (!failed) ::unlinkat(here, from.c_str(), 0);
  return failed;
}

std::error_code set_mode(Handle file, mode_t mode) noexcept {
  const std::error_code failed = outcome(::fchmod(descriptor_of(file), mode & 0777) == 0);
  // File systems without modes, such as FAT, refuse to change them. The other file then had no mode of its own either.
  const bool has_modes = failed.value() != EPERM && failed.value() != ENOSYS && failed.value() != EOPNOTSUPP;
  return has_modes ? failed : std::error_code();
}

#ifdef __linux__

File open_with_openat2(Handle folder, const fs::path& relative, int flags, Links links,
                       std::error_code& failed) noexcept {
  open_how how{};
  how.flags = static_cast<unsigned>(flags);
  how.resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS;  // magic links, as in /proc/PID/fd, jump out of any folder
  if (links == Links::refuse) how.resolve |= RESOLVE_NO_SYMLINKS;
  const auto open = [&] { return ::syscall(SYS_openat2, descriptor_of(folder), relative.c_str(), &how, sizeof how); };
  return opened_by(open, failed);
}

/// True if openat2 is missing, as before Linux 5.6. Sandboxes refuse unknown calls with EPERM; kernels refuse unknown
/// flags with EINVAL.
bool is_missing(const std::error_code& failed) noexcept {
  return failed.value() == ENOSYS || failed.value() == EPERM || failed.value() == EINVAL;
}

File open_within(Handle folder, const fs::path& relative, int flags, Links links, std::error_code& failed) noexcept {
  // openat2 returns EAGAIN if a rename elsewhere on the system raced with a `..` in the path: the kernel could not
  // prove that the path stays beneath the folder. The bound keeps a process that renames in a loop from stalling this
  // one.
  constexpr int attempts = 100;
  File file;
  for (int i = 0; i < attempts; ++i) {
    file = open_with_openat2(folder, relative, flags, links, failed);
    if (failed.value() != EAGAIN) break;
  }
  return is_missing(failed) ? open_part_by_part(folder, relative, flags, failed) : std::move(file);
}

/// Returns the path under which linkat finds an open file. AT_EMPTY_PATH does not need /proc, but requires
/// CAP_DAC_READ_SEARCH.
std::array<char, 32> name_in_proc(Handle file) noexcept {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "/proc/self/fd/%d", descriptor_of(file));
  return text;
}

/// EISDIR and EINVAL: O_TMPFILE contains O_DIRECTORY, so kernels and file systems that do not know it see an attempt to
/// open a folder for writing.
bool lacks_nameless_files(const std::error_code& failed) noexcept {
  return failed.value() == EOPNOTSUPP || failed.value() == EISDIR || failed.value() == EINVAL;
}

#endif

}  // namespace

File open_folder(const fs::path& path, std::error_code& failed) noexcept {
  return opened_by([&] { return ::open(path.c_str(), lookup_flags); }, failed);
}

File open_folder_in(Handle folder, const fs::path& name, std::error_code& failed) noexcept {
  return opened_by([&] { return ::openat(descriptor_of(folder), name.c_str(), lookup_flags | O_NOFOLLOW); }, failed);
}

#ifdef __linux__

File open_beneath(Handle folder, const fs::path& relative, Links links, std::error_code& failed) noexcept {
  return open_within(folder, relative, read_flags, links, failed);
}

File open_folder_beneath(Handle folder, const fs::path& relative, std::error_code& failed) noexcept {
  return open_within(folder, relative, lookup_flags, Links::refuse, failed);
}

File create_unseen(Handle folder, std::error_code& failed) noexcept {
  const auto create = [&] { return ::openat(descriptor_of(folder), ".", O_TMPFILE | O_RDWR | O_CLOEXEC, for_all); };
  File file = opened_by(create, failed);
  if (lacks_nameless_files(failed)) failed = error_of(EOPNOTSUPP);
  if (failed || ::access(name_in_proc(file).data(), F_OK) == 0) return file;
  failed = error_of(EOPNOTSUPP);  // without /proc (a chroot, a container) the file could never be named
  return {};
}

std::error_code give_name(Handle file, Handle folder, const fs::path& name) noexcept {
  const auto self = name_in_proc(file);
  return outcome(::linkat(AT_FDCWD, self.data(), descriptor_of(folder), name.c_str(), AT_SYMLINK_FOLLOW) == 0);
}

std::error_code rename_to_free_name(Handle folder, const fs::path& from, Handle into, const fs::path& to) noexcept {
  const int here = descriptor_of(folder), there = descriptor_of(into);
  // By its number: musl has had renameat2 only since 1.2.6.
  const auto rename = [&] { return ::syscall(SYS_renameat2, here, from.c_str(), there, to.c_str(), RENAME_NOREPLACE); };
  const std::error_code failed = outcome(rename() == 0);
  // EINVAL: the file system does not support RENAME_NOREPLACE.
  return failed.value() == EINVAL ? rename_by_link(folder, from, into, to) : failed;
}

#else

// O_NOFOLLOW_ANY refuses links in the whole path, but not a `..` that leaves the folder.
File open_beneath(Handle folder, const std::filesystem::path& relative, Links /*links*/,
                  std::error_code& failed) noexcept {
  return open_part_by_part(folder, relative, read_flags, failed);
}

File open_folder_beneath(Handle folder, const std::filesystem::path& relative, std::error_code& failed) noexcept {
  return open_part_by_part(folder, relative, lookup_flags, failed);
}

// There is no O_TMPFILE, and no way to give a removed file a name again.
File create_unseen(Handle /*folder*/, std::error_code& failed) noexcept {
  failed = error_of(ENOTSUP);
  return {};
}

std::error_code give_name(Handle /*file*/, Handle /*folder*/, const std::filesystem::path& /*name*/) noexcept {
  return error_of(ENOTSUP);
}

std::error_code rename_to_free_name(Handle folder, const std::filesystem::path& from, Handle into,
                                    const std::filesystem::path& to) noexcept {
  const int here = descriptor_of(folder), there = descriptor_of(into);
  const std::error_code failed = outcome(::renameatx_np(here, from.c_str(), there, to.c_str(), RENAME_EXCL) == 0);
  return failed.value() == ENOTSUP ? rename_by_link(folder, from, into, to) : failed;
}

#endif

File create_new(Handle folder, const fs::path& name, std::error_code& failed, Users users) noexcept {
  constexpr int flags = O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC;
  const mode_t mode = users == Users::all ? for_all : for_owner;
  return opened_by([&] { return ::openat(descriptor_of(folder), name.c_str(), flags, mode); }, failed);
}

File open_existing(Handle folder, const fs::path& name, std::error_code& failed) noexcept {
  constexpr int flags = O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC;  // O_NONBLOCK: opening a pipe must not wait
  return opened_by([&] { return ::openat(descriptor_of(folder), name.c_str(), flags); }, failed);
}

Ownership ownership_of(Handle file, std::error_code& failed) noexcept {
  struct stat status{};
  failed = outcome(::fstat(descriptor_of(file), &status) == 0);
  if (failed || !S_ISREG(status.st_mode)) return Ownership::not_regular;
  if (status.st_uid != ::geteuid() && status.st_uid != 0) return Ownership::other_owner;
  if ((status.st_mode & (S_IWGRP | S_IWOTH)) != 0) return Ownership::other_writers;
  return status.st_nlink > 1 ? Ownership::several_names : Ownership::own;  // 0: it was removed, and harms nothing
}

std::error_code make_link(Handle folder, const fs::path& name, const fs::path& target) noexcept {
  return outcome(::symlinkat(target.c_str(), descriptor_of(folder), name.c_str()) == 0);
}

std::error_code rename_over(Handle folder, const fs::path& from, const fs::path& to) noexcept {
  return outcome(::renameat(descriptor_of(folder), from.c_str(), descriptor_of(folder), to.c_str()) == 0);
}

std::error_code keep_mode(Handle file, Handle folder, const fs::path& name) noexcept {
  struct stat status{};
  const int found = ::fstatat(descriptor_of(folder), name.c_str(), &status, AT_SYMLINK_NOFOLLOW);
  if (found != 0 && errno != ENOENT) return outcome(false);
  if (found != 0 || !S_ISREG(status.st_mode)) return {};  // a new name: the mode from the umask stays
  const int here = descriptor_of(file);
  // If this process is root, the owner is kept, too.
  const bool keeps_group =
      ::fchown(here, status.st_uid, status.st_gid) == 0 || ::fchown(here, static_cast<uid_t>(-1), status.st_gid) == 0;
  mode_t mode = status.st_mode & 0777;
  if (!keeps_group) mode = (mode & 0707) | (mode & 0007) << 3;  // the members of another group are others
  return set_mode(file, mode);
}

std::error_code take_mode(Handle file, Handle model) noexcept {
  struct stat status{};
  const std::error_code failed = outcome(::fstat(descriptor_of(model), &status) == 0);
  return failed ? failed : set_mode(file, status.st_mode);
}

FileStatus status_in(Handle folder, const fs::path& name, std::error_code& failed) noexcept {
  struct stat status{};
  failed = outcome(::fstatat(descriptor_of(folder), name.c_str(), &status, AT_SYMLINK_NOFOLLOW) == 0);
  return file_status(status, failed);
}

fs::path read_link(Handle folder, const fs::path& name, std::error_code& failed) {
  std::array<char, PATH_MAX> text{};
  const ssize_t length = ::readlinkat(descriptor_of(folder), name.c_str(), text.data(), text.size());
  failed = outcome(length >= 0);
  return length < 0 ? fs::path() : fs::path(text.data(), text.data() + length);
}

bool may_follow_link(Handle folder, const fs::path& name, std::error_code& failed) noexcept {
  struct stat link{};
  struct stat around{};
  failed = outcome(::fstatat(descriptor_of(folder), name.c_str(), &link, AT_SYMLINK_NOFOLLOW) == 0 &&
                   ::fstat(descriptor_of(folder), &around) == 0);
  return !failed && is_trusted_link(around.st_mode, around.st_uid, link.st_uid, ::geteuid());
}

// 0777: the umask takes permissions away, as it does for every other program.
std::error_code make_folder(Handle folder, const fs::path& name, Users users) noexcept {
  const mode_t mode = users == Users::all ? 0777 : S_IRWXU;
  return outcome(::mkdirat(descriptor_of(folder), name.c_str(), mode) == 0);
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
