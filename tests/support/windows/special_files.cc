// What Windows has of pipes, devices, links and small disks.
#include "support/special_files.h"

#include <algorithm>
#include <random>
#include <string>
#include <system_error>

#include "os/folder.h"
#include "os/windows/native.h"

namespace onnxar::testing {
namespace {

namespace fs = std::filesystem;

/// Wine 8 says that it made the link, and did not.
bool try_symlink() {
  const fs::path path = fs::temp_directory_path() / ("onnxar_link." + std::to_string(std::random_device()()));
  try {
    make_symlink("nowhere", path);
  } catch (const std::system_error&) {
    return false;
  }
  return ::DeleteFileW(path.c_str()) != 0;
}

/// A file that is open can be moved away everywhere, but not be replaced. It goes when its last user closes it.
void move_away(const fs::path& path) {
  const fs::path name = "." + path.filename().string() + "." + std::to_string(std::random_device()()) + ".old";
  fs::rename(path, path.parent_path() / name);
  std::error_code failed;
  const os::File folder = os::open_folder(path.parent_path(), failed);
  if (!failed) os::remove_file(folder, name);
}

}  // namespace

bool make_pipe(const fs::path& /*path*/) { return false; }

fs::path null_device() { return "NUL"; }

os::File open_for_writing_only(const fs::path& path) {
  std::error_code failed;
  return os::file_of(
      ::CreateFileW(path.c_str(), GENERIC_WRITE, os::share_all, nullptr, OPEN_EXISTING, FILE_ATTRIBUTE_NORMAL, nullptr),
      failed);
}

const Code code_without_right_to_read = Code::io_permission;

bool can_make_symlinks() {
  static const bool can = try_symlink();
  return can;
}

void make_symlink(const fs::path& target, const fs::path& link) {
  std::wstring text = target.native();
  std::ranges::replace(text, L'/', L'\\');
  constexpr DWORD without_privilege = 2;  // SYMBOLIC_LINK_FLAG_ALLOW_UNPRIVILEGED_CREATE: for developers
  const DWORD kind = fs::is_directory(link.parent_path() / target) ? SYMBOLIC_LINK_FLAG_DIRECTORY : 0;
  if (::CreateSymbolicLinkW(os::long_path(link).c_str(), text.c_str(), kind | without_privilege) == 0) {
    throw std::system_error(static_cast<int>(::GetLastError()), std::system_category(), "a link cannot be made");
  }
}

bool is_name_of_the_unseen(std::string_view name) {
  return name.starts_with('.') && (name.ends_with(".tmp") || name.ends_with(".old"));
}

bool folders_are_synced() { return false; }
bool parts_are_written_together() { return false; }

bool mapped_files_change() { return false; }

void make_way_for(const fs::path& path) {
  if (!fs::exists(path)) return;
  const HANDLE file = ::CreateFileW(path.c_str(), GENERIC_WRITE, os::share_all, nullptr, TRUNCATE_EXISTING,
                                    FILE_ATTRIBUTE_NORMAL, nullptr);
  if (file == INVALID_HANDLE_VALUE) return move_away(path);
  ::CloseHandle(file);
}

void replace_file(const fs::path& with, const fs::path& replaced) {
  move_away(replaced);
  fs::rename(with, replaced);
}

// A disk image takes an administrator.
SmallDisk::SmallDisk(const fs::path& folder, std::uint64_t /*size*/) : folder_(folder), mounted_(false) {}
SmallDisk::~SmallDisk() = default;

}  // namespace onnxar::testing
