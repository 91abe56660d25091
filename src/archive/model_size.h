// The size from which on protobuf reads no message: the limit of models and graphs (P8, G2).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "onnxar/archive.h"

namespace onnxar {

/// Whether protobuf can read a message of `size` bytes.
constexpr bool fits_protobuf(std::uint64_t size) noexcept { return size <= model_size_maximum; }

/// Words the message for a model that does not fit: with `the model is` it returns
/// `the model is 3.00 GiB (3221225472 bytes), and protobuf reads less than 2 GiB`.
std::string oversize_text(std::string_view subject_and_verb, std::uint64_t size);

}  // namespace onnxar
