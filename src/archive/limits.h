// What every writer of archives holds its input against.
#pragma once

#include <cstdint>

#include "onnxar/error.h"

namespace onnxar {

/// Errors: usage.argument, unless it is a power of two from 64 to 32768.
void check_archive_alignment(std::uint64_t alignment);

/// Errors: archive.model.too_large at `place`.
void check_model_size(std::uint64_t size, const Place& place);

}  // namespace onnxar
