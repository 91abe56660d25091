// Pages of memory: having them ready, and getting many at once.
#pragma once

#include <cstdint>
#include <memory>

#include "onnxar/bytes.h"

namespace onnxar::base {

/// Tells the system that `bytes`, part of some mapping, will be read soon; returns at once. Only advice: never fails.
void will_need(Bytes bytes) noexcept;

/// Reads `bytes` in and has them mapped before it returns. Errors: io.failed (a mapped file was shortened, or cannot be
/// read).
void populate(Bytes bytes);

/// Fresh memory, not yet touched, with huge pages advised where it is large. `alignment` is a power of two. Errors:
/// std::bad_alloc.
std::shared_ptr<std::byte> allocate(std::size_t size, std::size_t alignment);

}  // namespace onnxar::base
