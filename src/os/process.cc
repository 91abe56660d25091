// Queries the running process, its libraries and the processor.
#include "os/process.h"

#ifdef _WIN32
#include <array>

#include "os/names.h"
#include "os/windows/native.h"
// After it.
#include <restartmanager.h>
#else
#include <dlfcn.h>
#include <pthread.h>

#include <atomic>
#include <bit>
#include <ctime>
#endif
#if defined(__linux__) && defined(__aarch64__)
#include <asm/hwcap.h>
#include <sys/auxv.h>
#endif

namespace onnxar::os {

#ifdef _WIN32

void pause(std::uint32_t milliseconds) noexcept { ::Sleep(milliseconds); }

std::size_t count_of_forks() noexcept { return 0; }

std::uintptr_t current_thread() noexcept { return ::GetCurrentThreadId(); }

// Asks the Restart Manager, which installers use to find the programs that block their files.
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

void pause(std::uint32_t milliseconds) noexcept {
  const timespec time{static_cast<std::time_t>(milliseconds / 1000),
                      static_cast<long>(milliseconds % 1000) * 1'000'000};
  ::nanosleep(&time, nullptr);
}

// The number of a process may be that of its parent, in another PID namespace.
std::size_t count_of_forks() noexcept {
  static std::atomic<std::size_t> forks = 0;
  [[maybe_unused]] static const int registered = ::pthread_atfork(nullptr, nullptr, [] { ++forks; });
  return forks;
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
bool has_sha256() noexcept { return has_pmull(); }  // Windows reports both parts together
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
