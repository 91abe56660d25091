// Logs WriteFile, FlushFileBuffers and SetFileInformationByHandle by functions that replace the imported ones.
#include "support/system_calls.h"

#include <cerrno>
#include <span>

#include "os/windows/native.h"

namespace onnxar::testing {
namespace {

FileCallLog* log = nullptr;

DWORD windows_error_of(int number) {
  switch (number) {
    case ENOSPC: return ERROR_DISK_FULL;
    case EFBIG: return ERROR_FILE_TOO_LARGE;
    case EACCES: return ERROR_ACCESS_DENIED;
    default: return ERROR_IO_DEVICE;
  }
}

template <typename Describe>
bool passes(const Describe& describe) {
  if (log == nullptr) return true;
  FileCall call = describe();
  if (const int reason = log->fail ? log->fail(call) : 0) {
    ::SetLastError(windows_error_of(reason));
    return false;
  }
  log->add(std::move(call));
  return true;
}

template <typename Function>
Function* real(const char* name) {
  return reinterpret_cast<Function*>(reinterpret_cast<void*>(::GetProcAddress(::GetModuleHandleW(L"kernel32"), name)));
}

std::uint64_t offset_in(const OVERLAPPED* place) {
  return place == nullptr ? 0 : std::uint64_t{place->OffsetHigh} << 32U | place->Offset;
}

BOOL WINAPI write_file(HANDLE file, const void* bytes, DWORD size, DWORD* written, OVERLAPPED* place) {
  static auto* const call = real<decltype(::WriteFile)>("WriteFile");
  const auto describe = [&] {
    const auto* begin = static_cast<const std::byte*>(bytes);
    return FileCall{FileCall::Kind::write, offset_in(place), {begin, begin + size}};
  };
  // Other writes are those of streams.
  return place == nullptr || passes(describe) ? call(file, bytes, size, written, place) : FALSE;
}

BOOL WINAPI flush(HANDLE file) {
  static auto* const call = real<decltype(::FlushFileBuffers)>("FlushFileBuffers");
  return passes([] { return FileCall{FileCall::Kind::sync, 0, {}}; }) ? call(file) : FALSE;
}

BOOL WINAPI set_information(HANDLE file, FILE_INFO_BY_HANDLE_CLASS kind, void* information, DWORD size) {
  static auto* const call = real<decltype(::SetFileInformationByHandle)>("SetFileInformationByHandle");
  const auto describe = [&] {
    const auto end = static_cast<const FILE_END_OF_FILE_INFO*>(information)->EndOfFile.QuadPart;
    return FileCall{FileCall::Kind::set_size, static_cast<std::uint64_t>(end), {}};
  };
  return kind != FileEndOfFileInfo || passes(describe) ? call(file, kind, information, size) : FALSE;
}

}  // namespace

FileCallLog::FileCallLog() { log = this; }
FileCallLog::~FileCallLog() { log = nullptr; }

}  // namespace onnxar::testing

// The linker takes these for the imported functions of the same names.
extern "C" {
extern void* const __imp_WriteFile;
extern void* const __imp_FlushFileBuffers;
extern void* const __imp_SetFileInformationByHandle;
void* const __imp_WriteFile = reinterpret_cast<void*>(onnxar::testing::write_file);
void* const __imp_FlushFileBuffers = reinterpret_cast<void*>(onnxar::testing::flush);
void* const __imp_SetFileInformationByHandle = reinterpret_cast<void*>(onnxar::testing::set_information);
}
