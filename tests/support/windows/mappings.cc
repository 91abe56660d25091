#include "support/mappings.h"

#define PSAPI_VERSION 2
#include "os/windows/native.h"
// After it.
#include <psapi.h>


namespace onnxar::testing {
namespace {

/// The path of the file that is mapped at `address`: the system tells its device, so the file is looked for by name.
std::string path_at(void* address) {
  std::wstring name(32768, L'\0');
  const DWORD size = ::GetMappedFileNameW(::GetCurrentProcess(), address, name.data(), 32768);
  return std::filesystem::path(name.substr(0, size)).string();
}

}  // namespace

std::vector<MappedRange> mapped_ranges() {
  std::vector<MappedRange> ranges;
  MEMORY_BASIC_INFORMATION found{};
  for (std::uintptr_t at = 0; ::VirtualQuery(reinterpret_cast<void*>(at), &found, sizeof(found)) != 0;) {
    const auto begin = reinterpret_cast<std::uintptr_t>(found.BaseAddress);
    if (found.State == MEM_COMMIT && found.Type == MEM_MAPPED) {
      ranges.push_back({begin, begin + found.RegionSize, path_at(found.BaseAddress), 0});
    }
    at = begin + found.RegionSize;
  }
  return ranges;
}

bool is_present(const void* address) {
  PSAPI_WORKING_SET_EX_INFORMATION page{const_cast<void*>(address), {}};
  return ::QueryWorkingSetEx(::GetCurrentProcess(), &page, sizeof(page)) != 0 && page.VirtualAttributes.Valid != 0;
}

}  // namespace onnxar::testing
