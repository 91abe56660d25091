// Opens, reads, writes and locks files on Windows.
#include "os/file.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

#include "os/error.h"
#include "os/windows/native.h"

namespace onnxar::os {
namespace {

namespace fs = std::filesystem;

/// The system counts bytes of one call in 32 bits.
constexpr std::size_t largest_piece = 1U << 30U;

OVERLAPPED place_at(std::uint64_t offset) noexcept {
  OVERLAPPED place{};
  place.Offset = static_cast<DWORD>(offset);
  place.OffsetHigh = static_cast<DWORD>(offset >> 32U);
  return place;
}

std::size_t write_piece(Handle file, std::uint64_t offset, std::span<const std::byte> bytes,
                        std::error_code& failed) noexcept {
  OVERLAPPED place = place_at(offset);
  DWORD written = 0;
  const auto size = static_cast<DWORD>(std::min(bytes.size(), largest_piece));
  failed = outcome(::WriteFile(native_of(file), bytes.data(), size, &written, &place) != 0);
  return failed ? 0 : written;
}

/// Locks are mandatory here: a locked byte cannot be read through other handles. So the byte is one that no file has
/// (spec/editing.md, X5).
OVERLAPPED locked_byte() noexcept { return place_at((std::uint64_t{1} << 63U) - 2); }

void unlock(Handle file) noexcept {
  OVERLAPPED byte = locked_byte();
  ::UnlockFileEx(native_of(file), 0, 1, 0, &byte);
}

/// Converts the system's time, which counts from 1601 in steps of 100 ns.
std::int64_t nanoseconds_of(LARGE_INTEGER time) noexcept {
  constexpr std::int64_t from_1601_to_1970 = 116'444'736'000'000'000;
  return (time.QuadPart - from_1601_to_1970) * 100;
}

/// ReFS has identities of 128 bits; for other file systems the upper half is 0. FAT supports only the older query.
FileIdentity identity_of(HANDLE file, std::error_code& failed) noexcept {
  FILE_ID_INFO found{};
  if (::GetFileInformationByHandleEx(file, FileIdInfo, &found, sizeof(found)) == 0) {
    BY_HANDLE_FILE_INFORMATION older{};
    failed = outcome(::GetFileInformationByHandle(file, &older) != 0);
    return {older.dwVolumeSerialNumber, std::uint64_t{older.nFileIndexHigh} << 32U | older.nFileIndexLow};
  }
  std::uint64_t halves[2] = {};
  std::memcpy(halves, &found.FileId, sizeof(halves));
  return {found.VolumeSerialNumber ^ std::rotl(halves[1], 1), halves[0]};
}

FileKind kind_of(Handle file, DWORD attributes) noexcept {
  std::error_code ignored;
  if ((attributes & FILE_ATTRIBUTE_REPARSE_POINT) != 0 && is_link(file, ignored)) return FileKind::link;
  return (attributes & FILE_ATTRIBUTE_DIRECTORY) != 0 ? FileKind::folder : FileKind::regular;
}

FileStatus status_at(const fs::path& path, DWORD flags, std::error_code& failed) noexcept {
  const File file = open_path(long_path(path), FILE_READ_ATTRIBUTES, flags, failed);
  return failed ? FileStatus() : status_of(file, failed);
}

bool is_folder_name(const std::wstring& name) noexcept {
  const DWORD attributes = ::GetFileAttributesW(name.c_str());
  return attributes != INVALID_FILE_ATTRIBUTES && (attributes & FILE_ATTRIBUTE_DIRECTORY) != 0;
}

/// DUPLICATE_EXTENTS_DATA and its constants, which mingw-w64 10 lacks.
struct SharedExtents {
  HANDLE source;
  LARGE_INTEGER source_offset, target_offset, length;
};
constexpr DWORD share_extents_code = 0x98344;  // FSCTL_DUPLICATE_EXTENTS_TO_FILE
constexpr DWORD shares_extents = 0x08000000;   // FILE_SUPPORTS_BLOCK_REFCOUNTING

}  // namespace

Handle handle_of(void* native) noexcept {
  return native == nullptr ? Handle::none : Handle{reinterpret_cast<std::intptr_t>(native)};
}

void close(Handle handle) noexcept { ::CloseHandle(native_of(handle)); }

File open(const fs::path& path, Access access, std::error_code& failed) noexcept {
  const std::wstring name = long_path(path);
  const DWORD wanted = access == Access::read ? GENERIC_READ : GENERIC_READ | GENERIC_WRITE;
  File file = open_path(name, wanted, 0, failed);
  // Refused in general, or by the kind of file.
  if (reason_of(failed) == Reason::permission && is_folder_name(name)) failed = error_of(error_is_folder);
  if (!failed && access == Access::read_and_write && status_of(file, failed).kind == FileKind::folder) {
    failed = error_of(error_is_folder);
    return {};
  }
  return file;
}

File duplicate(Handle file, std::error_code& failed) noexcept {
  HANDLE other = INVALID_HANDLE_VALUE;
  const HANDLE self = ::GetCurrentProcess();
  // The number of no handle is also that of the process, which can be duplicated.
  failed = file == Handle::none
               ? error_of(ERROR_INVALID_HANDLE)
               : outcome(::DuplicateHandle(self, native_of(file), self, &other, 0, FALSE, DUPLICATE_SAME_ACCESS) != 0);
  return failed ? File() : File(Handle{reinterpret_cast<std::intptr_t>(other)});
}

FileStatus status_of(Handle file, std::error_code& failed) noexcept {
  const HANDLE native = native_of(file);
  FILE_STANDARD_INFO found{};
  FILE_BASIC_INFO times{};
  ::SetLastError(NO_ERROR);
  const DWORD type = ::GetFileType(native);
  failed = error_of(type == FILE_TYPE_UNKNOWN ? ::GetLastError() : NO_ERROR);
  if (failed || type != FILE_TYPE_DISK) return {};  // pipes and consoles have none of the rest
  failed = outcome(::GetFileInformationByHandleEx(native, FileStandardInfo, &found, sizeof(found)) != 0 &&
                   ::GetFileInformationByHandleEx(native, FileBasicInfo, &times, sizeof(times)) != 0);
  if (failed) return {};
  const FileIdentity identity = identity_of(native, failed);
  if (!failed && found.EndOfFile.QuadPart < 0) failed = error_of(ERROR_FILE_TOO_LARGE);  // of a faulty file system
  if (failed) return {};
  return {kind_of(file, times.FileAttributes), identity, static_cast<std::uint64_t>(found.EndOfFile.QuadPart),
          nanoseconds_of(times.LastWriteTime), nanoseconds_of(times.ChangeTime)};
}

FileStatus status_of(const fs::path& path, std::error_code& failed) noexcept { return status_at(path, 0, failed); }

FileStatus link_status_of(const fs::path& path, std::error_code& failed) noexcept {
  return status_at(path, FILE_FLAG_OPEN_REPARSE_POINT, failed);
}

fs::path real_path(const fs::path& path, std::error_code& failed) {
  const File file = open_path(long_path(path), FILE_READ_ATTRIBUTES, 0, failed);
  if (failed) return {};
  std::wstring real = final_path(file, failed);
  constexpr std::wstring_view network = LR"(\\?\UNC\)", local = LR"(\\?\)";
  if (real.starts_with(network)) return LR"(\\)" + real.substr(network.size());
  return real.starts_with(local) ? real.substr(local.size()) : real;
}

std::size_t read_at(Handle file, std::span<std::byte> target, std::uint64_t offset, std::error_code& failed) noexcept {
  OVERLAPPED place = place_at(offset);
  DWORD got = 0;
  const auto size = static_cast<DWORD>(std::min(target.size(), largest_piece));
  failed = outcome(::ReadFile(native_of(file), target.data(), size, &got, &place) != 0);
  if (failed.value() == ERROR_HANDLE_EOF) failed.clear();
  return failed ? 0 : got;
}

std::size_t write_at(Handle file, std::uint64_t offset, std::span<const std::byte> first,
                     std::span<const std::byte> second, std::error_code& failed) noexcept {
  const std::size_t done = first.empty() ? 0 : write_piece(file, offset, first, failed);
  if (done < first.size()) return done;
  const std::size_t more = second.empty() ? 0 : write_piece(file, offset + done, second, failed);
  if (done != 0) failed.clear();  // the caller's next call meets the failure again
  return done + more;
}

std::error_code set_size(Handle file, std::uint64_t size) noexcept {
  FILE_END_OF_FILE_INFO end{};
  end.EndOfFile.QuadPart = static_cast<LONGLONG>(size);
  return outcome(::SetFileInformationByHandle(native_of(file), FileEndOfFileInfo, &end, sizeof(end)) != 0);
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
  const std::uint64_t before = status_of(file, failed).size;
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

std::error_code sync(Handle file) noexcept { return outcome(::FlushFileBuffers(native_of(file)) != 0); }

/// Closing reports nothing on this system, and a flush would wait for a disk, too.
std::error_code hand_over(Handle file) noexcept {
  DWORD flags = 0;
  return file == Handle::none ? error_of(ERROR_INVALID_HANDLE)
                              : outcome(::GetHandleInformation(native_of(file), &flags) != 0);
}

// A second lock of the same opening would not replace the first one, so that is released before.
Locking try_lock(Handle file, Lock lock, std::error_code& failed) noexcept {
  unlock(file);
  OVERLAPPED byte = locked_byte();
  const DWORD flags = LOCKFILE_FAIL_IMMEDIATELY | (lock == Lock::exclusive ? LOCKFILE_EXCLUSIVE_LOCK : 0U);
  failed = outcome(::LockFileEx(native_of(file), flags, 0, 1, 0, &byte) != 0);
  if (!failed) return Locking::done;
  return failed.value() == ERROR_LOCK_VIOLATION || failed.value() == ERROR_IO_PENDING ? Locking::busy : Locking::failed;
}

// Windows does not fork.
NotForChildren::NotForChildren(Handle file) noexcept : file_(file) {}
NotForChildren::~NotForChildren() = default;

}  // namespace onnxar::os
