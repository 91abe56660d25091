// Reads mapped pages ahead of use, allocates memory, and copies files into memory.
#pragma once

#include <cstdint>
#include <memory>

#include "base/open_file.h"
#include "onnxar/bytes.h"

namespace onnxar::base {

/// Tells the system that `bytes`, part of a mapping, will be read soon, and returns at once. Advice: never fails.
void will_need(Bytes bytes) noexcept;

/// Reads `bytes`, part of a mapping, into memory and maps their pages before it returns. Errors: io.failed (the file
/// was shortened, or cannot be read).
void populate(Bytes bytes);

/// Calls the function that `how` selects. Errors: as `populate`.
void prefetch(Bytes bytes, Prefetch how);

/// Allocates memory without touching it, and advises the system to use huge pages for large sizes. `alignment` is a
/// power of two. Errors: std::bad_alloc.
std::shared_ptr<std::byte> allocate(std::size_t size, std::size_t alignment);

/// Copies a part of a file into new memory at a multiple of `alignment`, and returns it borrowed with its owner. The
/// file is read in pieces on up to `threads` threads (0: one per core) and never mapped, so later changes of the file
/// do not matter. The caller keeps the handle; its position does not move. Errors: as `examine`; io.failed (reading
/// fails); io.changed (the file was shortened meanwhile); std::bad_alloc.
ByteSpan read_in(os::Handle file, const FilePart& part, std::size_t alignment, std::size_t threads,
                 const std::filesystem::path& path);

}  // namespace onnxar::base
