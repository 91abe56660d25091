// Prefetches mapped pages, allocates memory, and copies files into memory.
#pragma once

#include <cstddef>
#include <memory>

#include "base/open_file.h"
#include "onnxar/bytes.h"

namespace onnxar::base {

/// Prepares `bytes`, part of a mapping, for reading. Prefetch::will_need advises the system and returns at once.
/// Prefetch::populate reads the bytes into memory and maps their pages before it returns; it throws io.failed if the
/// file was shortened or cannot be read.
void prefetch(Bytes bytes, Prefetch how);

/// Prefetches the cache line of `address`, which need not be mapped.
inline void prefetch_line([[maybe_unused]] const void* address) noexcept {
#if defined(__GNUC__) || defined(__clang__)
  __builtin_prefetch(address);
#endif
}

/// Allocates memory without touching it, and advises the system to use huge pages for large sizes. `alignment` must be
/// a power of two. Throws std::bad_alloc.
std::shared_ptr<std::byte> allocate(std::size_t size, std::size_t alignment);

/// Copies a part of a file into new memory at a multiple of `alignment`, and returns it borrowed with its owner. The
/// file is read in pieces on up to `threads` threads (0: one per core) and never mapped, so later changes of the file
/// do not matter. The caller keeps the handle; its position does not move. Throws what `examine` throws, io.failed if
/// reading fails, io.changed if the file was shortened meanwhile, and std::bad_alloc.
ByteSpan read_in(os::Handle file, const FilePart& part, std::size_t alignment, std::size_t threads,
                 const std::filesystem::path& path);

}  // namespace onnxar::base
