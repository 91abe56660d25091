#include "os/windows/status.h"

#include <bit>
#include <cstring>

namespace onnxar::os {
namespace {

/// The system counts from 1601, in steps of 100 ns.
std::int64_t nanoseconds_of(LARGE_INTEGER time) noexcept {
  constexpr std::int64_t from_1601_to_1970 = 116'444'736'000'000'000;
  return (time.QuadPart - from_1601_to_1970) * 100;
}

/// ReFS has identities of 128 bits; of the others the upper half is 0. FAT tells an identity in the older way alone.
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

}  // namespace

FileStatus file_status(Handle file, std::error_code& failed) noexcept {
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
  if (failed) return {};
  return {kind_of(file, times.FileAttributes), identity, static_cast<std::uint64_t>(found.EndOfFile.QuadPart),
          nanoseconds_of(times.LastWriteTime), nanoseconds_of(times.ChangeTime)};
}

}  // namespace onnxar::os
