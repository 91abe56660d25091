#include "os/output.h"

#include <array>
#include <cstring>
#include <random>
#include <vector>

#include "os/error.h"
#include "os/folder.h"
#include "os/windows/native.h"
#include "os/windows/status.h"

namespace onnxar::os {
namespace {

namespace fs = std::filesystem;

// Of the native interface; the headers for programs lack them.
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

/// The handle with which a file is renamed or removed.
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

}  // namespace

// Every file of this system has a name.
File create_unseen(Handle /*folder*/, std::error_code& failed) noexcept {
  failed = error_of(ERROR_NOT_SUPPORTED);
  return {};
}

File create_new(Handle folder, const fs::path& name, std::error_code& failed) noexcept {
  constexpr ACCESS_MASK access = GENERIC_READ | GENERIC_WRITE | WRITE_DAC;  // WRITE_DAC: for keep_mode
  return open_in(folder, name.native(), {access, FILE_CREATE, FILE_NON_DIRECTORY_FILE}, failed);
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

std::error_code rename_to_free_name(Handle folder, const fs::path& from, const fs::path& to) noexcept {
  std::error_code failed;
  const File file = is_plain_name(to.native()) ? open_to_rename(folder, from.native(), failed) : File();
  if (!file.valid()) return failed ? failed : error_of(ERROR_INVALID_NAME);
  return rename(file, folder, to.native(), rename_class, 0);
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

void allow_holes(Handle file) noexcept {
  DWORD size = 0;
  ::DeviceIoControl(native_of(file), FSCTL_SET_SPARSE, nullptr, 0, nullptr, 0, &size, nullptr);
}

std::error_code set_aside(Handle file, std::uint64_t offset, std::uint64_t length, FileSize size) noexcept {
  if (!std::in_range<LONGLONG>(offset + length)) return error_of(ERROR_FILE_TOO_LARGE);
  FILE_STANDARD_INFO now{};
  const HANDLE native = native_of(file);
  std::error_code failed = outcome(::GetFileInformationByHandleEx(native, FileStandardInfo, &now, sizeof(now)) != 0);
  const auto end = static_cast<LONGLONG>(offset + length);
  FILE_ALLOCATION_INFO wanted{};
  wanted.AllocationSize.QuadPart = end;
  if (!failed && now.AllocationSize.QuadPart < end) {  // a smaller number would cut the file
    failed = outcome(::SetFileInformationByHandle(native, FileAllocationInfo, &wanted, sizeof(wanted)) != 0);
  }
  const bool grows = size == FileSize::grows && now.EndOfFile.QuadPart < end;
  return failed || !grows ? failed : set_size(file, offset + length);
}

bool can_share_blocks(Handle file) noexcept {
  DWORD flags = 0;
  return ::GetVolumeInformationByHandleW(native_of(file), nullptr, 0, nullptr, nullptr, &flags, nullptr, 0) != 0 &&
         (flags & shares_extents) != 0;
}

// ReFS: offsets and lengths are multiples of its clusters, and the target is as long already.
std::error_code share_blocks(Handle file, std::uint64_t offset, Handle source, std::uint64_t source_offset,
                             std::uint64_t length) noexcept {
  if (!can_share_blocks(file)) return error_of(ERROR_NOT_SUPPORTED);
  std::error_code failed;
  const std::uint64_t before = file_status(file, failed).size;
  if (!failed && before < offset + length) failed = set_size(file, offset + length);
  if (failed) return failed;
  SharedExtents request{};
  request.source = native_of(source);
  request.source_offset.QuadPart = static_cast<LONGLONG>(source_offset);
  request.target_offset.QuadPart = static_cast<LONGLONG>(offset);
  request.length.QuadPart = static_cast<LONGLONG>(length);
  DWORD size = 0;
  failed = outcome(::DeviceIoControl(native_of(file), share_extents_code, &request, sizeof(request), nullptr, 0, &size,
                                     nullptr) != 0);
  if (failed && before < offset + length) static_cast<void>(set_size(file, before));
  return failed;
}

// This system has only flushes, which wait.
void start_writeback(Handle /*file*/, std::uint64_t /*offset*/, std::uint64_t /*length*/) noexcept {}

}  // namespace onnxar::os
