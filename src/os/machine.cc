// Describes the machine and its boot, and finds which users can change a file.
#include "os/machine.h"

#include <algorithm>
#include <array>
#include <fstream>
#include <iterator>
#include <set>
#include <sstream>

#ifdef _WIN32
#include "os/names.h"
#include "os/windows/native.h"
#else
#include <sys/utsname.h>
#include <unistd.h>

#include "os/posix/native.h"
#ifdef __APPLE__
#include <crt_externs.h>
#endif
#endif

namespace onnxar::os {
namespace {

/// Files of /proc have no size, so they are read to their end.
std::string text_in(const char* path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace

std::string processors_in(const std::string& cpuinfo) {
  constexpr std::array<std::string_view, 2> features = {"flags", "Features"};
  constexpr std::array<std::string_view, 11> wanted = {
      "flags",    "Features",        "vendor_id",        "cpu family",  "model",   "model name",
      "stepping", "CPU implementer", "CPU architecture", "CPU variant", "CPU part"};
  std::set<std::string> kept;
  bool is_known = false;
  std::istringstream lines(cpuinfo);
  for (std::string line; std::getline(lines, line);) {
    std::string_view name = std::string_view(line).substr(0, line.find(':'));
    while (name.ends_with('\t') || name.ends_with(' ')) name.remove_suffix(1);
    if (std::ranges::find(wanted, name) == wanted.end()) continue;
    is_known = is_known || std::ranges::find(features, name) != features.end();
    kept.insert(line + "\n");
  }
  std::string text;
  for (const std::string& line : kept) text += line;
  return is_known ? text : std::string();
}

std::string boot() { return text_in("/proc/sys/kernel/random/boot_id"); }

#ifdef _WIN32

std::vector<std::string> variables(std::string_view prefix) {
  std::vector<std::string> found;
  wchar_t* const all = ::GetEnvironmentStringsW();
  for (const wchar_t* each = all; each != nullptr && *each != L'\0'; each += std::wstring_view(each).size() + 1) {
    if (std::string text = text_of(each); text.starts_with(prefix)) found.push_back(std::move(text));
  }
  if (all != nullptr) ::FreeEnvironmentStringsW(all);
  std::ranges::sort(found);
  return found;
}

std::string machine() {
  std::string text = "Windows\n";
  for (const std::string& each : variables("PROCESSOR_")) text += each + "\n";
  return text;
}

bool others_may_change(const std::filesystem::path& /*folder*/, Sticky /*sticky*/, std::error_code& failed) noexcept {
  failed.clear();
  return false;
}

#else

std::vector<std::string> variables(std::string_view prefix) {
#ifdef __APPLE__
  char** const all = *::_NSGetEnviron();
#else
  char** const all = ::environ;
#endif
  std::vector<std::string> found;
  for (char** each = all; each != nullptr && *each != nullptr; ++each) {
    if (std::string_view(*each).starts_with(prefix)) found.emplace_back(*each);
  }
  std::ranges::sort(found);
  return found;
}

std::string machine() {
  utsname names{};
  if (::uname(&names) != 0) return {};
  const std::string processors = processors_in(text_in("/proc/cpuinfo"));
  const std::string system = std::string(names.sysname) + " " + names.machine + "\n";
  if (!processors.empty()) return system + processors;
  return system + names.nodename + " " + names.release + " " + names.version + "\n";
}

bool others_may_change(const std::filesystem::path& folder, Sticky sticky, std::error_code& failed) noexcept {
  struct stat status{};
  failed = outcome(::stat(folder.c_str(), &status) == 0);
  const bool is_own = status.st_uid == ::geteuid() || status.st_uid == 0;
  const bool is_open = (status.st_mode & (S_IWGRP | S_IWOTH)) != 0;
  const bool is_sticky = sticky == Sticky::accept && (status.st_mode & S_ISVTX) != 0;
  return failed || !is_own || (is_open && !is_sticky);
}

#endif

}  // namespace onnxar::os
