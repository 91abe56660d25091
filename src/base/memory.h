// Memory: pages that are read in ahead of use, fresh memory, and copies of files.
#pragma once

#include <cstdint>
#include <memory>

#include "base/open_file.h"
#include "onnxar/bytes.h"

namespace onnxar::base {

/// Tells the system that `bytes`, part of some mapping, will be read soon; returns at once. Only advice: never fails.
void will_need(Bytes bytes) noexcept;

/// Reads `bytes` in and maps them before it returns. Errors: io.failed (a mapped file was shortened, or cannot be
/// read).
void populate(Bytes bytes);

/// Does what `how` asks for. Errors: as `populate`.
void prefetch(Bytes bytes, Prefetch how);

/// Fresh memory, not yet touched; the system is advised to use huge pages if it is large. `alignment` is a power of
/// two. Errors: std::bad_alloc.
std::shared_ptr<std::byte> allocate(std::size_t size, std::size_t alignment);

/// A copy of a part of a file in fresh memory at a multiple of `alignment`, borrowed with its owner. Read in pieces on
/// up to `threads` threads (0: as many as there are cores) and never mapped, so that later changes of the file
/// do not matter. The handle stays the caller's, and so does its position.
/// Errors: as `examine`; io.failed (reading fails, or the file is shortened meanwhile); std::bad_alloc.
ByteSpan read_in(os::Handle file, const FilePart& part, std::size_t alignment, std::size_t threads,
                 const std::filesystem::path& path);

}  // namespace onnxar::base
