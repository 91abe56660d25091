// Maps files and allocates pages of memory on Windows.
#include "os/pages.h"

#include <malloc.h>

#include <algorithm>
#include <array>
#include <limits>

#include "os/windows/native.h"

namespace onnxar::os {

std::size_t mapping_granularity() noexcept {
  static const std::size_t size = [] {
    SYSTEM_INFO system{};
    ::GetSystemInfo(&system);
    return std::size_t{system.dwAllocationGranularity};
  }();
  return size;
}

std::span<const std::byte> map(Handle file, std::uint64_t offset, std::size_t length,
                               std::error_code& failed) noexcept {
  // No handle would mean memory of the page file.
  if (file == Handle::none) {
    failed = error_of(ERROR_INVALID_HANDLE);
    return {};
  }
  const HANDLE section = ::CreateFileMappingW(native_of(file), nullptr, PAGE_READONLY, 0, 0, nullptr);
  failed = outcome(section != nullptr);
  if (failed) return {};
  const void* address =
      ::MapViewOfFile(section, FILE_MAP_READ, static_cast<DWORD>(offset >> 32U), static_cast<DWORD>(offset), length);
  failed = outcome(address != nullptr);
  ::CloseHandle(section);  // the view keeps it
  if (failed) return {};
  return {static_cast<const std::byte*>(address), length};
}

void unmap(std::span<const std::byte> mapping) noexcept { ::UnmapViewOfFile(mapping.data()); }

void will_need(std::span<const std::byte> bytes) noexcept {
  if (bytes.empty()) return;
  // The range is shared with functions that write, so its address is not const.
  WIN32_MEMORY_RANGE_ENTRY range{const_cast<std::byte*>(bytes.data()), bytes.size()};
  ::PrefetchVirtualMemory(::GetCurrentProcess(), 1, &range, 0);
}

// Prefetched pages are not mapped. A copy made by the system maps them, and fails where an access would raise an
// exception.
std::error_code populate(std::span<const std::byte> bytes) noexcept {
  will_need(bytes);
  std::array<std::byte, 65536> scratch;  // NOLINT(cppcoreguidelines-pro-type-member-init): written before use
  while (!bytes.empty()) {
    const auto piece = bytes.first(std::min(bytes.size(), scratch.size()));
    SIZE_T done = 0;
    if (::ReadProcessMemory(::GetCurrentProcess(), piece.data(), scratch.data(), piece.size(), &done) == 0) {
      return outcome(false);
    }
    bytes = bytes.subspan(piece.size());
  }
  return {};
}

std::byte* allocate(std::size_t size, std::size_t alignment) noexcept {
  if (size > std::numeric_limits<std::size_t>::max() / 2) return nullptr;  // the function below adds to it
  return static_cast<std::byte*>(
      ::_aligned_malloc(std::max<std::size_t>(size, 1), std::max(alignment, alignof(std::max_align_t))));
}

void release(std::byte* memory) noexcept { ::_aligned_free(memory); }

std::span<std::byte> reserve(std::size_t size, std::error_code& failed) noexcept {
  void* address = ::VirtualAlloc(nullptr, size, MEM_RESERVE, PAGE_NOACCESS);
  failed = outcome(address != nullptr);
  if (failed) return {};
  return {static_cast<std::byte*>(address), size};
}

std::error_code give_memory(std::span<std::byte> part) noexcept {
  return outcome(::VirtualAlloc(part.data(), part.size(), MEM_COMMIT, PAGE_READWRITE) != nullptr);
}

void take_memory(std::span<std::byte> part) noexcept { ::VirtualFree(part.data(), part.size(), MEM_DECOMMIT); }

void unreserve(std::span<std::byte> reserved) noexcept { ::VirtualFree(reserved.data(), 0, MEM_RELEASE); }

}  // namespace onnxar::os
