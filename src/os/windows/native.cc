// Opens handles of Windows, and converts its paths and errors.
#include "os/windows/native.h"

#include <algorithm>

#include "os/names.h"

namespace onnxar::os {
namespace {

File open_at(Handle folder, std::wstring_view name, const Opening& opening, std::error_code& failed) noexcept {
  UNICODE_STRING text{};
  // The buffer is only read, although its type is not const.
  text.Buffer = const_cast<wchar_t*>(name.data());
  text.Length = text.MaximumLength = static_cast<USHORT>(name.size() * sizeof(wchar_t));
  OBJECT_ATTRIBUTES place{};
  place.Length = sizeof(place);
  place.RootDirectory = native_of(folder);
  place.ObjectName = &text;
  place.Attributes = OBJ_CASE_INSENSITIVE;
  HANDLE handle = INVALID_HANDLE_VALUE;
  IO_STATUS_BLOCK status{};
  const ULONG options = opening.options | FILE_SYNCHRONOUS_IO_NONALERT | FILE_OPEN_REPARSE_POINT;
  failed =
      outcome_of(::NtCreateFile(&handle, opening.access | SYNCHRONIZE | FILE_READ_ATTRIBUTES, &place, &status, nullptr,
                                FILE_ATTRIBUTE_NORMAL, share_all, opening.disposition, options, nullptr, 0));
  return failed ? File() : File(Handle{reinterpret_cast<std::intptr_t>(handle)});
}

}  // namespace

std::error_code outcome_of(NTSTATUS status) noexcept {
  if (status >= 0) return {};
  constexpr auto is_folder = static_cast<NTSTATUS>(0xC00000BA);
  // Otherwise the same as STATUS_ACCESS_DENIED.
  if (status == is_folder) return error_of(error_is_folder);
  return error_of(::RtlNtStatusToDosError(status));
}

File file_of(HANDLE handle, std::error_code& failed) noexcept {
  failed = outcome(handle != INVALID_HANDLE_VALUE);
  return File(Handle{reinterpret_cast<std::intptr_t>(handle)});
}

File open_path(const std::wstring& path, DWORD access, DWORD flags, std::error_code& failed) noexcept {
  return file_of(::CreateFileW(path.c_str(), access, share_all, nullptr, OPEN_EXISTING,
                               FILE_FLAG_BACKUP_SEMANTICS | flags, nullptr),  // this flag opens folders, too
                 failed);
}

std::wstring long_path(const std::filesystem::path& path) {
  const std::wstring& text = path.native();
  if (text.starts_with(LR"(\\?\)") || text.starts_with(LR"(\\.\)")) return text;
  std::wstring absolute(MAX_PATH, L'\0');
  DWORD size = ::GetFullPathNameW(text.c_str(), MAX_PATH, absolute.data(), nullptr);
  if (size >= absolute.size()) {
    absolute.resize(size);
    size = ::GetFullPathNameW(text.c_str(), size, absolute.data(), nullptr);
  }
  absolute.resize(size);
  if (absolute.starts_with(LR"(\\.\)") || absolute.empty()) return absolute;
  if (absolute.starts_with(LR"(\\)")) return LR"(\\?\UNC)" + absolute.substr(1);
  return LR"(\\?\)" + absolute;
}

File open_in(Handle folder, std::wstring_view name, const Opening& opening, std::error_code& failed) noexcept {
  if (name.size() <= 32'000 && is_plain_name(name)) return open_at(folder, name, opening, failed);
  failed = error_of(ERROR_INVALID_NAME);
  return {};
}

// An empty name is that of the folder.
File open_again(Handle handle, const Opening& opening, std::error_code& failed) noexcept {
  return open_at(handle, L"", opening, failed);
}

bool is_plain_name(std::wstring_view name) noexcept {
  if (name.empty() || name.ends_with(L'.') || name.ends_with(L' ')) return false;
  constexpr std::wstring_view forbidden = L"<>:\"|?*\\/";
  const auto is_bad = [&](wchar_t letter) { return letter < 32 || forbidden.find(letter) != std::wstring_view::npos; };
  return std::ranges::none_of(name, is_bad) && !is_device_name(text_of(name));
}

bool is_link(Handle file, std::error_code& failed) noexcept {
  FILE_ATTRIBUTE_TAG_INFO found{};
  const BOOL done = ::GetFileInformationByHandleEx(native_of(file), FileAttributeTagInfo, &found, sizeof(found));
  failed = outcome(done != 0);
  return !failed && (found.FileAttributes & FILE_ATTRIBUTE_REPARSE_POINT) != 0 &&
         IsReparseTagNameSurrogate(found.ReparseTag);
}

std::wstring final_path(Handle file, std::error_code& failed) {
  std::wstring path(MAX_PATH, L'\0');
  DWORD size = ::GetFinalPathNameByHandleW(native_of(file), path.data(), MAX_PATH, 0);
  if (size >= path.size()) {
    path.resize(size);
    size = ::GetFinalPathNameByHandleW(native_of(file), path.data(), size, 0);
  }
  failed = outcome(size != 0);
  path.resize(size);
  return path;
}

}  // namespace onnxar::os
