// CRC-32 as zip uses it (APPNOTE 4.4.7): reflected polynomial 0xEDB88320, initial value and final xor 0xFFFFFFFF.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "onnxar/bytes.h"

namespace onnxar::base {

/// Continues `crc` (0 to begin with) over `bytes`. Threads: pure. Cost: what reading costs, 20 to 30 GB/s, on CPUs
/// with VPCLMULQDQ; else some 10 GB/s with ISA-L, 4 GB/s with zlib.
std::uint32_t crc32(std::uint32_t crc, Bytes bytes) noexcept;

/// The same, in pieces of `step` bytes that up to `threads` threads (0: as many as there are cores) take one after
/// another. Each hands the piece that it has summed, and that its core's cache has, to `use`, with its place in
/// `bytes`. So `use` is called by several threads at once; with one thread, in order. What it throws comes through.
/// REQUIRES: step > 0
std::uint32_t crc32_in_pieces(std::uint32_t crc, Bytes bytes, std::size_t step, std::size_t threads,
                              const std::function<void(std::size_t, Bytes)>& use);

/// The same, while `use` does something else with the bytes, such as writing them to a file: at the same time, in a
/// second thread, where they are many and `threads` allow it (0: as many as there are cores); else one after the other.
/// What `use` throws comes through.
std::uint32_t crc32_while(std::uint32_t crc, Bytes bytes, const std::function<void()>& use, std::size_t threads = 0);

/// Where the last of the bytes begin that have this CRC-32: the place nearest to the end from which on summing anew
/// gives `crc`; the end itself for 0. Chance finds one in bytes.size() of 2^32 times. The sum is run backwards from the
/// end. Threads: pure. Cost: one pass, some 300 MB/s: for messages.
std::optional<std::size_t> find_start_of_crc32(Bytes bytes, std::uint32_t crc) noexcept;

}  // namespace onnxar::base
