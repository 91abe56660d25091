// The mappings of this process, by VirtualQuery.
#include "support/mappings.h"

#include <span>
#include <system_error>

#include "os/file.h"
#include "os/pages.h"

#define PSAPI_VERSION 2
#include "os/windows/native.h"
// After it.
#include <psapi.h>

namespace onnxar::testing {
namespace {

/// The path of the file that is mapped at `address`, with the name of its device.
std::filesystem::path path_at(const void* address) {
  std::wstring name(32768, L'\0');
  const DWORD size = ::GetMappedFileNameW(::GetCurrentProcess(), const_cast<void*>(address), name.data(), 32768);
  return name.substr(0, size);
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

// The system names the file of a mapping alone, so this makes one.
std::filesystem::path mapped_name(const std::filesystem::path& file) {
  std::error_code failed;
  const os::File open = os::open(file, os::Access::read, failed);
  const std::span<const std::byte> mapping = failed ? std::span<const std::byte>() : os::map(open, 0, 1, failed);
  if (failed) throw std::system_error(failed, "a file whose mappings are counted");
  std::filesystem::path name = path_at(mapping.data());
  os::unmap(mapping);
  return name;
}

bool is_present(const void* address) {
  PSAPI_WORKING_SET_EX_INFORMATION page{const_cast<void*>(address), {}};
  return ::QueryWorkingSetEx(::GetCurrentProcess(), &page, sizeof(page)) != 0 && page.VirtualAttributes.Valid != 0;
}

}  // namespace onnxar::testing
