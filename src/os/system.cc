// Words errors, converts paths, and asks for the process and the processor, on all systems.
#include <algorithm>
#include <array>
#include <cerrno>

#include "os/error.h"
#include "os/file.h"
#include "os/names.h"
#include "os/process.h"

#ifdef _WIN32
#include "os/windows/native.h"
// After it.
#include <restartmanager.h>
#else
#include <dlfcn.h>
#include <pthread.h>

#include <bit>
#include <ctime>
#endif
#if defined(__linux__) && defined(__aarch64__)
#include <asm/hwcap.h>
#include <sys/auxv.h>
#endif

namespace onnxar::os {
namespace {

Reason reason_of_errno(int number) noexcept {
  if (number == ENOTSUP) return Reason::unsupported;  // on Linux the number of EOPNOTSUPP, elsewhere its own
  switch (number) {
    case 0: return Reason::none;
    case ENOENT:
    case ENOTDIR: return Reason::not_found;
    case EEXIST: return Reason::exists;
    case EACCES:
    case EPERM:
    case EROFS: return Reason::permission;
#ifdef EDQUOT
    case EDQUOT:
#endif
    case ENOSPC: return Reason::disk_full;
    case EISDIR: return Reason::is_folder;
    case EXDEV: return Reason::outside;  // openat2 for a path, rename and FICLONERANGE for a volume
    case ELOOP: return Reason::too_many_links;
    case ENAMETOOLONG: return Reason::bad_name;
    case EFBIG: return Reason::too_large;
    case EFAULT: return Reason::unreadable_bytes;  // write() of a mapping whose file was shortened
    case ENOSYS:
    case EOPNOTSUPP: return Reason::unsupported;
    default: return Reason::other;
  }
}

bool equals_folded(std::string_view name, std::string_view small) noexcept {
  const auto fold = [](char letter) {
    return letter >= 'A' && letter <= 'Z' ? static_cast<char>(letter + ('a' - 'A')) : letter;
  };
  return std::ranges::equal(name, small, {}, fold);
}

}  // namespace

std::size_t read_fully_at(Handle file, std::span<std::byte> target, std::uint64_t offset,
                          std::error_code& failed) noexcept {
  std::size_t done = 0;
  failed.clear();
  while (done < target.size()) {
    const std::size_t got = read_at(file, target.subspan(done), offset + done, failed);
    if (got == 0) break;
    done += got;
  }
  return done;
}

bool is_device_name(std::string_view part) noexcept {
  constexpr std::array<std::string_view, 6> whole = {"con", "prn", "aux", "nul", "conin$", "conout$"};
  constexpr std::array<std::string_view, 3> superscripts = {"\xc2\xb9", "\xc2\xb2", "\xc2\xb3"};
  // Windows ignores extensions and trailing spaces here: `nul.txt` and `NUL .bin` are the device, too.
  std::string_view stem = part.substr(0, part.find('.'));
  while (stem.ends_with(' ')) stem.remove_suffix(1);
  const auto is_stem = [stem](std::string_view device) { return equals_folded(stem, device); };
  if (std::ranges::any_of(whole, is_stem)) return true;
  const std::string_view port = stem.substr(0, 3), number = stem.substr(port.size());
  const bool is_digit = number.size() == 1 && number[0] >= '0' && number[0] <= '9';
  return (is_digit || std::ranges::find(superscripts, number) != superscripts.end()) &&
         (equals_folded(port, "com") || equals_folded(port, "lpt"));
}

#ifdef _WIN32

Reason reason_of(const std::error_code& failed) noexcept {
  // std::make_error_code gives numbers of the C library.
  if (failed.category() != std::system_category()) return reason_of_errno(failed.value());
  switch (failed.value()) {
    case NO_ERROR: return Reason::none;
    case ERROR_FILE_NOT_FOUND:
    case ERROR_PATH_NOT_FOUND:
    case ERROR_BAD_PATHNAME:
    case ERROR_BAD_NETPATH:
    case ERROR_BAD_NET_NAME:
    case ERROR_DIRECTORY: return Reason::not_found;
    case ERROR_FILENAME_EXCED_RANGE:
    case ERROR_INVALID_NAME: return Reason::bad_name;
    case ERROR_ALREADY_EXISTS:
    case ERROR_FILE_EXISTS: return Reason::exists;
    case ERROR_ACCESS_DENIED:
    case ERROR_WRITE_PROTECT:
    case ERROR_SHARING_VIOLATION:
    case ERROR_PRIVILEGE_NOT_HELD: return Reason::permission;
    case ERROR_USER_MAPPED_FILE: return Reason::mapped;
    case ERROR_DISK_FULL:
    case ERROR_HANDLE_DISK_FULL:
    case error_disk_quota_exceeded: return Reason::disk_full;
    case error_is_folder: return Reason::is_folder;
    case ERROR_NOT_SAME_DEVICE: return Reason::outside;
    case ERROR_CANT_RESOLVE_FILENAME: return Reason::too_many_links;
    case ERROR_FILE_TOO_LARGE: return Reason::too_large;
    case ERROR_NOACCESS:
    case ERROR_SWAPERROR:
    case ERROR_PARTIAL_COPY: return Reason::unreadable_bytes;
    case ERROR_CALL_NOT_IMPLEMENTED:
    case ERROR_INVALID_FUNCTION:
    case ERROR_NOT_SUPPORTED: return Reason::unsupported;
    default: return Reason::other;
  }
}

std::filesystem::path path_of(std::string_view text) {
  const auto length = static_cast<int>(text.size());
  std::wstring wide(text.size(), L'\0');  // UTF-16 has no more units than UTF-8
  const int units = ::MultiByteToWideChar(CP_UTF8, 0, text.data(), length, wide.data(), length);
  wide.resize(static_cast<std::size_t>(units));
  return wide;
}

std::string text_of(const std::filesystem::path& path) {
  const std::wstring& wide = path.native();
  const auto units = static_cast<int>(wide.size());
  std::string text(3 * wide.size(), '\0');  // UTF-8 has at most three bytes for each unit of UTF-16
  const int length = ::WideCharToMultiByte(CP_UTF8, 0, wide.data(), units, text.data(), 3 * units, nullptr, nullptr);
  text.resize(static_cast<std::size_t>(length));
  return text;
}

std::string slashed_text_of(const std::filesystem::path& path) {
  std::string text = text_of(path);
  std::ranges::replace(text, '\\', '/');
  return text;
}

void pause(std::uint32_t milliseconds) noexcept { ::Sleep(milliseconds); }

std::uintptr_t current_thread() noexcept { return ::GetCurrentThreadId(); }

// Asks the Restart Manager, which installers use to find who blocks their files.
std::vector<std::string> programs_with(const std::filesystem::path& file) {
  std::array<wchar_t, CCH_RM_SESSION_KEY + 1> key{};
  DWORD session = 0, reasons = 0;
  if (::RmStartSession(&session, 0, key.data()) != ERROR_SUCCESS) return {};
  std::error_code failed;
  const std::filesystem::path path = std::filesystem::absolute(file, failed);  // the manager takes no other
  const wchar_t* name = path.c_str();
  std::array<RM_PROCESS_INFO, 16> found{};
  auto count = static_cast<UINT>(found.size()), needed = UINT{0};
  const bool known = ::RmRegisterResources(session, 1, &name, 0, nullptr, 0, nullptr) == ERROR_SUCCESS &&
                     ::RmGetList(session, &needed, &count, found.data(), &reasons) == ERROR_SUCCESS;
  ::RmEndSession(session);
  std::vector<std::string> programs;
  for (UINT i = 0; known && i < count; ++i) {
    programs.push_back(text_of(found.at(i).strAppName) + " (process " +
                       std::to_string(found.at(i).Process.dwProcessId) + ")");
  }
  return programs;
}

// PATH is not searched either: others may write to a folder on it.
void* load_library(const std::string& name, int /*version*/, std::string& why) {
  const std::string file = "lib" + name + ".dll";
  constexpr DWORD places = LOAD_LIBRARY_SEARCH_APPLICATION_DIR | LOAD_LIBRARY_SEARCH_SYSTEM32;
  const HMODULE library = ::LoadLibraryExA(file.c_str(), nullptr, places);
  if (library == nullptr) why = file + ": " + error_of(::GetLastError()).message();
  return library;
}

void* symbol_of(void* library, const char* name) noexcept {
  return reinterpret_cast<void*>(::GetProcAddress(static_cast<HMODULE>(library), name));
}

#else

Reason reason_of(const std::error_code& failed) noexcept { return reason_of_errno(failed.value()); }

std::filesystem::path path_of(std::string_view text) { return text; }

std::string text_of(const std::filesystem::path& path) { return path.native(); }

std::string slashed_text_of(const std::filesystem::path& path) { return path.native(); }

void pause(std::uint32_t milliseconds) noexcept {
  const timespec time{static_cast<std::time_t>(milliseconds / 1000),
                      static_cast<long>(milliseconds % 1000) * 1'000'000};
  ::nanosleep(&time, nullptr);
}

// An integer on some systems, a pointer on others.
std::uintptr_t current_thread() noexcept { return std::bit_cast<std::uintptr_t>(::pthread_self()); }

std::vector<std::string> programs_with(const std::filesystem::path& /*file*/) { return {}; }

void* load_library(const std::string& name, int version, std::string& why) {
#ifdef __APPLE__
  const std::string file = "/usr/lib/lib" + name + "." + std::to_string(version) + ".dylib";
#else
  const std::string file = "lib" + name + ".so." + std::to_string(version);
#endif
  void* const library = ::dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) why = ::dlerror();  // NOLINT(concurrency-mt-unsafe): each thread has its own text
  return library;
}

void* symbol_of(void* library, const char* name) noexcept { return ::dlsym(library, name); }

#endif

#if defined(__aarch64__)
#if defined(_WIN32)
bool has_pmull() noexcept { return ::IsProcessorFeaturePresent(PF_ARM_V8_CRYPTO_INSTRUCTIONS_AVAILABLE) != 0; }
bool has_sha256() noexcept { return has_pmull(); }  // Windows tells of both parts together
#elif defined(__linux__)
bool has_pmull() noexcept { return (::getauxval(AT_HWCAP) & HWCAP_PMULL) != 0; }
bool has_sha256() noexcept { return (::getauxval(AT_HWCAP) & HWCAP_SHA2) != 0; }
#else  // all of Apple's have both; other systems are not asked
#if defined(__APPLE__)
constexpr bool has_both = true;
#else
constexpr bool has_both = false;
#endif
bool has_pmull() noexcept { return has_both; }
bool has_sha256() noexcept { return has_both; }
#endif
#endif

}  // namespace onnxar::os
