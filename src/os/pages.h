// Pages of memory: mapped from files, or fresh.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <system_error>

#include "os/file.h"

namespace onnxar::os {

/// A mapping begins at a multiple of this in the file, and at a multiple of this in memory. A power of two.
std::size_t mapping_granularity() noexcept;

/// Maps a part of a file, shared and read-only. The handle may be closed afterwards. REQUIRES: `offset` is a multiple
/// of the granularity; `length` is not 0 and stays in the file.
std::span<const std::byte> map(Handle file, std::uint64_t offset, std::size_t length, std::error_code& failed) noexcept;
/// REQUIRES: what `map` returned, as a whole.
void unmap(std::span<const std::byte> mapping) noexcept;

/// Says that these bytes, a part of a mapping, will be read soon; returns at once. Only advice.
void will_need(std::span<const std::byte> bytes) noexcept;
/// Reads these bytes of a mapping in and has them mapped before it returns. Fails, instead of raising a signal, where
/// the file was shortened or cannot be read; older systems that cannot tell raise it.
std::error_code populate(std::span<const std::byte> bytes) noexcept;

/// Fresh memory, untouched, with huge pages advised if it is large; null if there is none. `alignment` is a power of
/// two. `release` frees it.
std::byte* allocate(std::size_t size, std::size_t alignment) noexcept;
void release(std::byte* memory) noexcept;

}  // namespace onnxar::os
