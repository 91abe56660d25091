#include "os/file.h"

#include <algorithm>

#include "os/error.h"
#include "os/windows/native.h"
#include "os/windows/status.h"

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

FileStatus status_at(const fs::path& path, DWORD flags, std::error_code& failed) noexcept {
  const std::wstring name = long_path(path);
  const File file = file_of(::CreateFileW(name.c_str(), FILE_READ_ATTRIBUTES, share_all, nullptr, OPEN_EXISTING,
                                          FILE_FLAG_BACKUP_SEMANTICS | flags, nullptr),
                            failed);
  return failed ? FileStatus() : status_of(file, failed);
}

bool is_folder_name(const std::wstring& name) noexcept {
  const DWORD attributes = ::GetFileAttributesW(name.c_str());
  return attributes != INVALID_FILE_ATTRIBUTES && (attributes & FILE_ATTRIBUTE_DIRECTORY) != 0;
}

}  // namespace

Handle handle_of(void* native) noexcept {
  return native == nullptr ? Handle::none : Handle{reinterpret_cast<std::intptr_t>(native)};
}

void close(Handle handle) noexcept { ::CloseHandle(native_of(handle)); }

File open(const fs::path& path, Access access, std::error_code& failed) noexcept {
  const std::wstring name = long_path(path);
  const DWORD wanted = access == Access::read ? GENERIC_READ : GENERIC_READ | GENERIC_WRITE;
  File file = file_of(::CreateFileW(name.c_str(), wanted, share_all, nullptr, OPEN_EXISTING, FILE_FLAG_BACKUP_SEMANTICS,
                                    nullptr),  // the flag opens folders, too
                      failed);
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

FileStatus status_of(Handle file, std::error_code& failed) noexcept { return file_status(file, failed); }

FileStatus status_of(const fs::path& path, std::error_code& failed) noexcept { return status_at(path, 0, failed); }

FileStatus link_status_of(const fs::path& path, std::error_code& failed) noexcept {
  return status_at(path, FILE_FLAG_OPEN_REPARSE_POINT, failed);
}

fs::path real_path(const fs::path& path, std::error_code& failed) {
  const std::wstring name = long_path(path);
  const File file = file_of(::CreateFileW(name.c_str(), FILE_READ_ATTRIBUTES, share_all, nullptr, OPEN_EXISTING,
                                          FILE_FLAG_BACKUP_SEMANTICS, nullptr),
                            failed);
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

}  // namespace onnxar::os
