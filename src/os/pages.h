// Pages of memory: mapped from files, or fresh.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <system_error>

#include "os/file.h"

namespace onnxar::os {

/// Mappings begin at multiples of this number, in the file and in memory. A power of two.
std::size_t mapping_granularity() noexcept;

/// Maps a part of a file, shared and read-only. The handle may be closed afterwards. REQUIRES: `offset` is a multiple
/// of the granularity; `length` is not 0 and stays in the file.
std::span<const std::byte> map(Handle file, std::uint64_t offset, std::size_t length, std::error_code& failed) noexcept;
/// Ends a mapping. REQUIRES: `mapping` is the whole span that `map` returned.
void unmap(std::span<const std::byte> mapping) noexcept;

/// Tells the system that these bytes, a part of a mapping, will be read soon, and returns at once. Advice: never fails.
void will_need(std::span<const std::byte> bytes) noexcept;
/// Reads these bytes of a mapping into memory and maps their pages before it returns. Fails, instead of raising SIGBUS,
/// if the file was shortened or cannot be read; macOS, and Linux before 5.14, raise the signal.
std::error_code populate(std::span<const std::byte> bytes) noexcept;

/// Allocates memory without touching it, and advises huge pages for large sizes. Null if the memory is exhausted.
/// `alignment` is a power of two. `release` frees it.
std::byte* allocate(std::size_t size, std::size_t alignment) noexcept;
void release(std::byte* memory) noexcept;

/// Reserves addresses that have no memory: access to them faults. Empty after a failure, such as too few addresses.
/// REQUIRES: `size` is a multiple of the granularity, and not 0.
std::span<std::byte> reserve(std::size_t size, std::error_code& failed) noexcept;
/// Gives zeroed memory, for reading and writing, to a part of reserved addresses that has none.
/// REQUIRES: it begins and ends at multiples of the granularity, as in the next function.
std::error_code give_memory(std::span<std::byte> part) noexcept;
/// Releases the memory of a part.
void take_memory(std::span<std::byte> part) noexcept;
/// Ends a reservation. REQUIRES: `reserved` is the whole span that `reserve` returned.
void unreserve(std::span<std::byte> reserved) noexcept;

}  // namespace onnxar::os
