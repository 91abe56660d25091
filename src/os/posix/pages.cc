// Maps files and allocates pages of memory on POSIX systems.
#include "os/pages.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <limits>

#include "os/posix/native.h"

namespace onnxar::os {
namespace {

constexpr std::size_t huge_page = 2U << 20U;

/// Passes the advice to madvise(2) for the pages that `bytes` touch.
std::error_code advise(std::span<const std::byte> bytes, int advice) noexcept {
  if (bytes.empty()) return {};
  const std::size_t into_page = reinterpret_cast<std::uintptr_t>(bytes.data()) % mapping_granularity();
  // madvise takes a pointer to non-const because some advice changes memory; the advice given here does not.
  auto* begin = const_cast<std::byte*>(bytes.data()) - into_page;
  return outcome(::madvise(begin, bytes.size() + into_page, advice) == 0);
}

/// populate for systems that cannot report pages beyond the end of the file: reading one raises SIGBUS.
void read_each_page(std::span<const std::byte> bytes) noexcept {
  constexpr std::size_t step = 4096;  // the smallest page size of any supported system
  will_need(bytes);
  for (std::size_t i = 0; i < bytes.size(); i += step) {
    static_cast<void>(*static_cast<const volatile std::byte*>(bytes.data() + i));
  }
}

}  // namespace

std::size_t mapping_granularity() noexcept {
  static const auto size = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  return size;
}

std::span<const std::byte> map(Handle file, std::uint64_t offset, std::size_t length,
                               std::error_code& failed) noexcept {
  // Shared, not private: a private mapping does not protect from later writes either, as its untouched pages are those
  // of the page cache.
  void* address = ::mmap(nullptr, length, PROT_READ, MAP_SHARED, descriptor_of(file), static_cast<off_t>(offset));
  failed = outcome(address != MAP_FAILED);
  if (failed) return {};
  return {static_cast<const std::byte*>(address), length};
}

void unmap(std::span<const std::byte> mapping) noexcept {
  // munmap takes a pointer to non-const. It does not write to the pages.
  static_cast<void>(::munmap(const_cast<std::byte*>(mapping.data()), mapping.size()));
}

void will_need(std::span<const std::byte> bytes) noexcept { static_cast<void>(advise(bytes, MADV_WILLNEED)); }

#ifdef __linux__

std::error_code populate(std::span<const std::byte> bytes) noexcept {
#ifdef MADV_POPULATE_READ
  constexpr int populate_read = MADV_POPULATE_READ;
#else
  constexpr int populate_read = 22;  // the kernel's number, which older C libraries do not define
#endif
  const std::error_code failed = advise(bytes, populate_read);
  if (failed.value() != EINVAL) return failed;
  // Linux before 5.14 does not know this advice. Reading one byte of each page has the same effect, except that a page
  // beyond the end of the file raises SIGBUS.
  read_each_page(bytes);
  return {};
}

#else

// No advice of madvise reports pages that cannot be read.
std::error_code populate(std::span<const std::byte> bytes) noexcept {
  read_each_page(bytes);
  return {};
}

#endif

std::byte* allocate(std::size_t size, std::size_t alignment) noexcept {
  const bool large = size >= 2 * huge_page;
  alignment = std::max(alignment, large ? huge_page : alignof(std::max_align_t));
  if (size > std::numeric_limits<std::size_t>::max() - (alignment - 1)) return nullptr;
  // aligned_alloc requires a multiple of the alignment.
  void* memory = std::aligned_alloc(alignment, (size + alignment - 1) & ~(alignment - 1));
  // Without huge pages the first use of 1 GiB faults 262144 times.
#ifdef __linux__  // macOS chooses the size of pages
  if (large && memory != nullptr) static_cast<void>(advise({static_cast<std::byte*>(memory), size}, MADV_HUGEPAGE));
#endif
  return static_cast<std::byte*>(memory);
}

void release(std::byte* memory) noexcept { std::free(memory); }

std::span<std::byte> reserve(std::size_t size, std::error_code& failed) noexcept {
  void* address = ::mmap(nullptr, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  failed = outcome(address != MAP_FAILED);
  if (failed) return {};
  return {static_cast<std::byte*>(address), size};
}

std::error_code give_memory(std::span<std::byte> part) noexcept {
  return outcome(::mprotect(part.data(), part.size(), PROT_READ | PROT_WRITE) == 0);
}

void take_memory(std::span<std::byte> part) noexcept {
  // A new reservation in the same place drops the pages on every system.
  static_cast<void>(
      ::mmap(part.data(), part.size(), PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0));
}

void unreserve(std::span<std::byte> reserved) noexcept {
  static_cast<void>(::munmap(reserved.data(), reserved.size()));
}

}  // namespace onnxar::os
