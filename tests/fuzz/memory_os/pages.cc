// os/pages.h for fuzzers: a mapping is a copy on the heap of exactly the requested bytes.
#include "os/pages.h"

#include <algorithm>
#include <cstdlib>

#include "files.h"

namespace onnxar::os {

std::size_t mapping_granularity() noexcept { return 4096; }

std::span<const std::byte> map(Handle file, std::uint64_t offset, std::size_t length,
                               std::error_code& failed) noexcept {
  std::byte* const copy = allocate(length, mapping_granularity());
  const std::size_t got = read_at(file, std::span(copy, length), offset, failed);
  if (!failed && got != length) failed = memory::error(std::errc::invalid_argument);
  const std::scoped_lock lock(memory::files().mutex);
  const auto opening = memory::files().at(file);
  if (failed || !opening) {
    std::free(copy);
    return {};
  }
  memory::files().mappings[copy] = {opening->node, offset, {copy, length}};
  return {copy, length};
}

void unmap(std::span<const std::byte> mapping) noexcept {
  const std::scoped_lock lock(memory::files().mutex);
  memory::files().mappings.erase(mapping.data());
  std::free(const_cast<std::byte*>(mapping.data()));
}

void will_need(std::span<const std::byte> /*bytes*/) noexcept {}
std::error_code populate(std::span<const std::byte> /*bytes*/) noexcept { return {}; }

/// Not aligned_alloc, whose size has to be a multiple of the alignment: this block ends where its bytes end.
std::byte* allocate(std::size_t size, std::size_t alignment) noexcept {
  void* memory = nullptr;
  const int failed =
      ::posix_memalign(&memory, std::max(alignment, alignof(std::max_align_t)), std::max<std::size_t>(size, 1));
  return failed == 0 ? static_cast<std::byte*>(memory) : nullptr;
}

void release(std::byte* memory) noexcept { std::free(memory); }

std::span<std::byte> reserve(std::size_t size, std::error_code& failed) noexcept {
  std::byte* const memory = allocate(size, mapping_granularity());
  failed = memory == nullptr ? memory::error(std::errc::not_enough_memory) : std::error_code();
  return {memory, memory == nullptr ? 0 : size};
}

// Memory that was not given yet can be accessed here; the sanitizers of the allocator still see each access beyond it.
std::error_code give_memory(std::span<std::byte> part) noexcept {
  std::ranges::fill(part, std::byte{0});
  return {};
}

void take_memory(std::span<std::byte> /*part*/) noexcept {}

void unreserve(std::span<std::byte> reserved) noexcept { release(reserved.data()); }

}  // namespace onnxar::os
