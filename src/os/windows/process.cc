#include "os/process.h"

#include <array>

#include "os/names.h"
#include "os/windows/native.h"
// After it.
#include <restartmanager.h>

namespace onnxar::os {
namespace {

/// The programs of a session of the Restart Manager, which installers use to find who blocks their files.
std::vector<std::string> programs_of(DWORD session) {
  std::array<RM_PROCESS_INFO, 16> found{};
  UINT needed = 0;
  auto count = static_cast<UINT>(found.size());
  DWORD reasons = 0;
  const DWORD result = ::RmGetList(session, &needed, &count, found.data(), &reasons);
  std::vector<std::string> programs;
  for (UINT i = 0; result == ERROR_SUCCESS && i < count; ++i) {
    programs.push_back(text_of(found.at(i).strAppName) + " (process " +
                       std::to_string(found.at(i).Process.dwProcessId) + ")");
  }
  return programs;
}

}  // namespace

void pause(std::uint32_t milliseconds) noexcept { ::Sleep(milliseconds); }

std::uintptr_t current_thread() noexcept { return ::GetCurrentThreadId(); }

std::vector<std::string> programs_with(const std::filesystem::path& file) {
  std::array<wchar_t, CCH_RM_SESSION_KEY + 1> key{};
  DWORD session = 0;
  if (::RmStartSession(&session, 0, key.data()) != ERROR_SUCCESS) return {};
  std::error_code failed;
  const std::filesystem::path path = std::filesystem::absolute(file, failed);  // the manager takes no other
  const wchar_t* name = path.c_str();
  const bool known = ::RmRegisterResources(session, 1, &name, 0, nullptr, 0, nullptr) == ERROR_SUCCESS;
  std::vector<std::string> programs = known ? programs_of(session) : std::vector<std::string>();
  ::RmEndSession(session);
  return programs;
}

}  // namespace onnxar::os
