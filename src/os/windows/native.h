// Converts between HANDLE and Handle, paths and names, and the system's errors and std::error_code.
#pragma once

#ifndef WIN32_LEAN_AND_MEAN
#define WIN32_LEAN_AND_MEAN
#endif
#ifndef NOMINMAX
#define NOMINMAX
#endif
#include <windows.h>
#include <winioctl.h>
#include <winternl.h>

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <system_error>

#include "os/file.h"

#ifdef _MSC_VER  // the SDK has it in its library, and not in a header for programs
extern "C" __declspec(dllimport) NTSTATUS NTAPI NtSetInformationFile(HANDLE, PIO_STATUS_BLOCK, PVOID, ULONG,
                                                                     FILE_INFORMATION_CLASS);
#endif

namespace onnxar::os {

// mingw-w64 10 lacks these.
constexpr DWORD error_is_folder = 336;             // ERROR_DIRECTORY_NOT_SUPPORTED
constexpr DWORD error_disk_quota_exceeded = 1295;  // ERROR_DISK_QUOTA_EXCEEDED

inline HANDLE native_of(Handle handle) noexcept {
  return reinterpret_cast<HANDLE>(static_cast<std::intptr_t>(handle));  // NOLINT(performance-no-int-to-ptr)
}

inline std::error_code error_of(DWORD number) noexcept { return {static_cast<int>(number), std::system_category()}; }

/// Returns the outcome of a call that has just returned: GetLastError unless it is `done`.
inline std::error_code outcome(bool done) noexcept { return done ? std::error_code() : error_of(::GetLastError()); }

/// Returns the outcome of a call of the system's native interface.
std::error_code outcome_of(NTSTATUS status) noexcept;

/// Takes ownership of the handle that a call has just returned.
File file_of(HANDLE handle, std::error_code& failed) noexcept;

/// Lets everybody read, write, rename and remove files that this process has open, as on other systems.
constexpr DWORD share_all = FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE;

/// Returns the absolute path in the form without a limit of 260 characters, in which the system reads no device names
/// and removes no dots and spaces.
std::wstring long_path(const std::filesystem::path& path);

/// Opens what the path leads to, a folder as well.
File open_path(const std::wstring& path, DWORD access, DWORD flags, std::error_code& failed) noexcept;

/// The way in which `open_in` opens.
struct Opening {
  ACCESS_MASK access = 0;
  ULONG disposition = FILE_OPEN;
  ULONG options = 0;
};

/// Opens `name`, one part of a path, in the folder. A link is opened itself, not what it leads to.
File open_in(Handle folder, std::wstring_view name, const Opening& opening, std::error_code& failed) noexcept;
/// Opens what the handle is of a second time, wherever it is now.
File open_again(Handle handle, const Opening& opening, std::error_code& failed) noexcept;

/// True if a file can have this name. Programs cannot open a file by a name that means a device (NUL, COM1.txt), a
/// stream of a different file (`a:b`), or a name without the dots and spaces at its end.
bool is_plain_name(std::wstring_view name) noexcept;

/// True if the handle is of a symbolic link or a junction. Other reparse points, such as deduplicated files, are files.
bool is_link(Handle file, std::error_code& failed) noexcept;

/// Returns the path of what the handle is of, without links; with the prefix of `long_path`.
std::wstring final_path(Handle file, std::error_code& failed);

}  // namespace onnxar::os
