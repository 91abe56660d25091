// Opens folders, and makes, renames and removes the files in them, on Windows.
#include "os/folder.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <random>
#include <utility>
#include <vector>

#include "os/error.h"
#include "os/windows/native.h"

namespace onnxar::os {
namespace {

namespace fs = std::filesystem;

constexpr ACCESS_MASK look_up = FILE_LIST_DIRECTORY | FILE_TRAVERSE;
constexpr Opening as_folder{look_up, FILE_OPEN, FILE_DIRECTORY_FILE};

/// Opens a folder by its path.
File folder_at(const std::wstring& path, std::error_code& failed) noexcept {
  File folder = open_path(path, look_up | SYNCHRONIZE | FILE_READ_ATTRIBUTES, 0, failed);
  const bool is_folder = !failed && status_of(folder, failed).kind == FileKind::folder;
  if (!failed && !is_folder) failed = error_of(ERROR_DIRECTORY);
  return failed ? File() : std::move(folder);
}

/// Opens the parent of a folder by its path, because names relative to a folder cannot contain `..`. The folder can
/// have moved until this one is open, so callers compare identities, as they do after every step.
File parent_of(Handle folder, std::error_code& failed) noexcept {
  const fs::path here = final_path(folder, failed);
  return failed ? File() : folder_at(here.parent_path().native(), failed);
}

/// Refuses a link where a folder or file is expected.
File refuse_link(File file, Links links, std::error_code& failed) noexcept {
  if (failed || !is_link(file, failed)) return file;
  failed = error_of(links == Links::follow ? ERROR_NOT_SAME_DEVICE : ERROR_CANT_RESOLVE_FILENAME);
  return {};
}

/// Links that stay in the folder are not followed either: where they lead can change between two steps.
File open_part_by_part(Handle folder, const fs::path& relative, const Opening& last_opening, Links links,
                       std::error_code& failed) noexcept {
  File here;
  failed = error_of(relative.empty() ? ERROR_PATH_NOT_FOUND : NO_ERROR);
  for (auto part = relative.begin(); part != relative.end(); ++part) {
    if (*part == L".." || relative.has_root_path()) {
      failed = error_of(ERROR_NOT_SAME_DEVICE);
      return {};
    }
    if (*part == L".") continue;
    const bool last = std::next(part) == relative.end();
    const Handle at = here.valid() ? here.get() : folder;
    here = refuse_link(open_in(at, part->native(), last ? last_opening : as_folder, failed), links, failed);
    // A name that no file can have, such as a device's name, is not in the folder.
    if (reason_of(failed) == Reason::bad_name) failed = error_of(ERROR_FILE_NOT_FOUND);
    if (failed) return {};
  }
  // `.` is the folder itself.
  return here.valid() || failed ? std::move(here) : open_again(folder, last_opening, failed);
}

/// Marks the file for removal. POSIX semantics (Windows 10 1709): the name is free at once, even while others have the
/// file open or mapped. The older way frees it at the last close, and refuses mapped files.
std::error_code remove(const File& file) noexcept {
  constexpr auto disposition_ex = static_cast<FILE_INFO_BY_HANDLE_CLASS>(21);  // FileDispositionInfoEx
  FILE_DISPOSITION_INFO_EX at_once{FILE_DISPOSITION_FLAG_DELETE | FILE_DISPOSITION_FLAG_POSIX_SEMANTICS |
                                   FILE_DISPOSITION_FLAG_IGNORE_READONLY_ATTRIBUTE};
  const HANDLE native = native_of(file);
  if (::SetFileInformationByHandle(native, disposition_ex, &at_once, sizeof(at_once)) != 0) return {};
  FILE_DISPOSITION_INFO at_close{TRUE};
  return outcome(::SetFileInformationByHandle(native, FileDispositionInfo, &at_close, sizeof(at_close)) != 0);
}

std::error_code remove_name(Handle folder, const fs::path& name, ULONG kind) noexcept {
  std::error_code failed;
  {
    const File file = open_in(folder, name.native(), {DELETE, FILE_OPEN, kind}, failed);
    if (!failed) failed = remove(file);
  }
  // This way takes mapped files, too: they go when their last mapping ends.
  if (reason_of(failed) == Reason::permission || reason_of(failed) == Reason::mapped) {
    open_in(folder, name.native(), {DELETE, FILE_OPEN, kind | FILE_DELETE_ON_CLOSE}, failed);
  }
  return failed;
}

// Constants of the native interface, which the public headers lack.
constexpr int rename_class = 10;     // FileRenameInformation
constexpr int rename_ex_class = 65;  // FileRenameInformationEx
constexpr ULONG replace_flag = 1, posix_flag = 2, read_only_flag = 0x40;

/// FILE_RENAME_INFORMATION, whose first member is a bool in the older class.
struct RenameHead {
  ULONG flags;
  HANDLE folder;
  ULONG name_size;
};
constexpr std::size_t name_at = offsetof(RenameHead, name_size) + sizeof(ULONG);

std::error_code rename(Handle file, Handle folder, const std::wstring& name, int kind, ULONG flags) noexcept {
  const std::size_t size = name.size() * sizeof(wchar_t);
  const RenameHead head{flags, native_of(folder), static_cast<ULONG>(size)};
  std::vector<std::byte> request(name_at + size + sizeof(wchar_t));
  std::memcpy(request.data(), &head, name_at);
  std::memcpy(request.data() + name_at, name.data(), size);
  IO_STATUS_BLOCK status{};
  return outcome_of(::NtSetInformationFile(native_of(file), &status, request.data(), static_cast<ULONG>(request.size()),
                                           static_cast<FILE_INFORMATION_CLASS>(kind)));
}

/// Returns the handle with which a file is renamed or removed.
File open_to_rename(Handle folder, const std::wstring& name, std::error_code& failed) noexcept {
  return open_in(folder, name, {DELETE, FILE_OPEN, 0}, failed);
}

std::wstring name_aside(const std::wstring& name) {
  std::random_device random;
  return L"." + name.substr(0, 200) + L"." + std::to_wstring(random()) + L".old";
}

/// For file systems, and versions of the system, that do not replace a file that is open or mapped: the old file moves
/// away and is removed when its last user closes it. Between two of the steps no file has the name. A folder stays.
std::error_code rename_after_moving_away(Handle file, Handle folder, const std::wstring& to) noexcept {
  std::error_code failed;
  const File old = open_in(folder, to, {DELETE, FILE_OPEN, FILE_NON_DIRECTORY_FILE}, failed);
  if (failed) return failed;
  const std::wstring aside = name_aside(to);
  failed = rename(old, folder, aside, rename_class, 0);
  if (failed) return failed;
  failed = rename(file, folder, to, rename_class, 0);
  if (failed) {
    static_cast<void>(rename(old, folder, to, rename_class, 0));
  } else {
    static_cast<void>(remove_file(folder, aside));
  }
  return failed;
}

/// True if a list of a folder's names has one besides the folder and its parent.
bool names_a_file(std::span<const std::byte> list) noexcept {
  while (true) {
    const auto* entry = reinterpret_cast<const FILE_ID_BOTH_DIR_INFO*>(list.data());
    const std::wstring_view name(entry->FileName, entry->FileNameLength / sizeof(wchar_t));
    if (name != L"." && name != L"..") return true;
    if (entry->NextEntryOffset == 0) return false;
    list = list.subspan(entry->NextEntryOffset);
  }
}

/// A reparse point of a symbolic link, after its head of 8 bytes; a junction's lacks the flags.
struct LinkHead {
  USHORT substitute_offset, substitute_length, print_offset, print_length;
};

fs::path target_in(std::span<const std::byte> reparse_point) {
  constexpr std::size_t head_at = 8, flags_size = 4;
  ULONG tag = 0;
  LinkHead head{};
  std::memcpy(&tag, reparse_point.data(), sizeof(tag));
  std::memcpy(&head, reparse_point.data() + head_at, sizeof(head));
  const std::size_t names = head_at + sizeof(head) + (tag == IO_REPARSE_TAG_SYMLINK ? flags_size : 0);
  const bool printed = head.print_length != 0;
  const std::size_t begin = names + (printed ? head.print_offset : head.substitute_offset);
  const std::size_t size = printed ? head.print_length : head.substitute_length;
  if (begin + size > reparse_point.size()) return {};
  std::wstring target(size / sizeof(wchar_t), L'\0');
  std::memcpy(target.data(), reparse_point.data() + begin, target.size() * sizeof(wchar_t));
  constexpr std::wstring_view native_prefix = LR"(\??\)";
  return target.starts_with(native_prefix) ? target.substr(native_prefix.size()) : target;
}

}  // namespace

File open_folder(const fs::path& path, std::error_code& failed) noexcept { return folder_at(long_path(path), failed); }

File open_folder_in(Handle folder, const fs::path& name, std::error_code& failed) noexcept {
  if (name == L"..") return parent_of(folder, failed);
  return refuse_link(open_in(folder, name.native(), as_folder, failed), Links::refuse, failed);
}

File open_beneath(Handle folder, const fs::path& relative, Links links, std::error_code& failed) noexcept {
  return open_part_by_part(folder, relative, {GENERIC_READ, FILE_OPEN, 0}, links, failed);
}

File open_folder_beneath(Handle folder, const fs::path& relative, std::error_code& failed) noexcept {
  return open_part_by_part(folder, relative, as_folder, Links::refuse, failed);
}

// Every file of this system has a name.
File create_unseen(Handle /*folder*/, std::error_code& failed) noexcept {
  failed = error_of(ERROR_NOT_SUPPORTED);
  return {};
}

// New files have the permissions that their folder passes on.
File create_new(Handle folder, const fs::path& name, std::error_code& failed, Users /*users*/) noexcept {
  constexpr ACCESS_MASK access = GENERIC_READ | GENERIC_WRITE | WRITE_DAC;  // WRITE_DAC: for keep_mode
  return open_in(folder, name.native(), {access, FILE_CREATE, FILE_NON_DIRECTORY_FILE}, failed);
}

File open_existing(Handle folder, const fs::path& name, std::error_code& failed) noexcept {
  constexpr ACCESS_MASK access = GENERIC_READ | GENERIC_WRITE | WRITE_DAC;
  return refuse_link(open_in(folder, name.native(), {access, FILE_OPEN, FILE_NON_DIRECTORY_FILE}, failed),
                     Links::refuse, failed);
}

Ownership ownership_of(Handle file, std::error_code& failed) noexcept {
  if (status_of(file, failed).kind != FileKind::regular) return Ownership::not_regular;
  FILE_STANDARD_INFO found{};
  failed = outcome(::GetFileInformationByHandleEx(native_of(file), FileStandardInfo, &found, sizeof(found)) != 0);
  return failed || found.NumberOfLinks > 1 ? Ownership::several_names : Ownership::own;
}

std::error_code give_name(Handle /*file*/, Handle /*folder*/, const fs::path& /*name*/) noexcept {
  return error_of(ERROR_NOT_SUPPORTED);
}

std::error_code rename_over(Handle folder, const fs::path& from, const fs::path& to) noexcept {
  std::error_code failed;
  const File file = is_plain_name(to.native()) ? open_to_rename(folder, from.native(), failed) : File();
  if (!file.valid()) return failed ? failed : error_of(ERROR_INVALID_NAME);
  // Windows 10 1607 on NTFS: in one step, and users of the old file keep it, as on POSIX systems.
  failed = rename(file, folder, to.native(), rename_ex_class, replace_flag | posix_flag | read_only_flag);
  if (!failed) return {};
  failed = rename(file, folder, to.native(), rename_class, replace_flag);  // in one step, if the old file is not in use
  return reason_of(failed) == Reason::permission || reason_of(failed) == Reason::mapped
             ? rename_after_moving_away(file, folder, to.native())
             : failed;
}

std::error_code rename_to_free_name(Handle folder, const fs::path& from, Handle into, const fs::path& to) noexcept {
  std::error_code failed;
  const File file = is_plain_name(to.native()) ? open_to_rename(folder, from.native(), failed) : File();
  if (!file.valid()) return failed ? failed : error_of(ERROR_INVALID_NAME);
  return rename(file, into, to.native(), rename_class, 0);
}

// Windows needs a privilege for links, so callers have another way anyway.
std::error_code make_link(Handle /*folder*/, const fs::path& /*name*/, const fs::path& /*target*/) noexcept {
  return error_of(ERROR_NOT_SUPPORTED);
}

// The access list of the old file. Without an old file, the new one has what its folder passes on.
std::error_code keep_mode(Handle file, Handle folder, const fs::path& name) noexcept {
  std::error_code failed;
  const File old = open_in(folder, name.native(), {READ_CONTROL, FILE_OPEN, FILE_NON_DIRECTORY_FILE}, failed);
  if (reason_of(failed) == Reason::not_found || reason_of(failed) == Reason::is_folder) return {};
  if (failed) return failed;
  DWORD size = 0;
  ::GetKernelObjectSecurity(native_of(old), DACL_SECURITY_INFORMATION, nullptr, 0, &size);
  std::vector<std::byte> list(size);
  const BOOL read = ::GetKernelObjectSecurity(native_of(old), DACL_SECURITY_INFORMATION, list.data(), size, &size);
  failed =
      outcome(read != 0 && ::SetKernelObjectSecurity(native_of(file), DACL_SECURITY_INFORMATION, list.data()) != 0);
  // FAT has no access lists. The old file then had none of its own either.
  return reason_of(failed) == Reason::unsupported ? std::error_code() : failed;
}

std::error_code take_mode(Handle /*file*/, Handle /*model*/) noexcept { return {}; }

FileStatus status_in(Handle folder, const fs::path& name, std::error_code& failed) noexcept {
  const File file = open_in(folder, name.native(), {}, failed);
  return failed ? FileStatus() : status_of(file, failed);
}

fs::path read_link(Handle folder, const fs::path& name, std::error_code& failed) {
  const File link = open_in(folder, name.native(), {}, failed);
  if (failed) return {};
  std::array<std::byte, MAXIMUM_REPARSE_DATA_BUFFER_SIZE> held{};
  DWORD size = 0;
  failed = outcome(::DeviceIoControl(native_of(link), FSCTL_GET_REPARSE_POINT, nullptr, 0, held.data(),
                                     static_cast<DWORD>(held.size()), &size, nullptr) != 0);
  return failed ? fs::path() : target_in(held);
}

// No folder of this system is open to all users and also protects the files in it. Making a link takes a privilege.
bool may_follow_link(Handle folder, const fs::path& name, std::error_code& failed) noexcept {
  status_in(folder, name, failed);
  return !failed;
}

std::error_code make_folder(Handle folder, const fs::path& name, Users /*users*/) noexcept {
  std::error_code failed;
  open_in(folder, name.native(), {look_up, FILE_CREATE, FILE_DIRECTORY_FILE}, failed);
  return failed;
}

// A handle may list the names that the folder had when it was first listed, so the folder is opened again.
bool is_empty(Handle folder, std::error_code& failed) noexcept {
  const File again = open_again(folder, as_folder, failed);
  alignas(FILE_ID_BOTH_DIR_INFO) std::array<std::byte, 16384> list{};
  while (!failed) {
    const auto size = static_cast<DWORD>(list.size());
    failed = outcome(::GetFileInformationByHandleEx(native_of(again), FileIdBothDirectoryInfo, list.data(), size) != 0);
    if (!failed && names_a_file(list)) return false;
  }
  if (failed.value() == ERROR_NO_MORE_FILES) failed.clear();
  return !failed;
}

// NTFS and ReFS keep names in a journal, and flush it with the file that has the name.
std::error_code sync_folder(Handle /*folder*/) noexcept { return {}; }

std::error_code remove_file(Handle folder, const fs::path& name) noexcept {
  return remove_name(folder, name, FILE_NON_DIRECTORY_FILE);
}

std::error_code remove_folder(Handle folder, const fs::path& name) noexcept {
  return remove_name(folder, name, FILE_DIRECTORY_FILE);
}

}  // namespace onnxar::os
