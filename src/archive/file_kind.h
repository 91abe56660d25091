// Recognises files that are neither archives nor models, so that errors can say what to do with them.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

#include "onnxar/bytes.h"
#include "onnxar/error.h"

namespace onnxar {

/// Returns what the file is and which verb accepts it, if its first bytes identify it; Hint::none otherwise. Recognises
/// plain models, files of weights (safetensors, NumPy, GGUF), and some other kinds. `of_model` is the hint for a zip
/// that holds a model; Hint::pack_it replaces it if only `pack` accepts that zip. Cost: O(1), for a ModelProto
/// O(fields).
Advice advice_on_kind(Bytes file, Hint of_model = Hint::none);

/// Refuses bytes that are not a model. Adds advice_on_kind to the error, which otherwise would only name the first
/// wrong byte. Does nothing for bytes of unknown kind. Throws wire.*, and onnx.model.invalid if the message has no
/// graph.
void refuse_other_kind(Bytes file);

/// True if the file is a Git LFS pointer, a placeholder for a file that was not fetched.
bool is_lfs_pointer(Bytes file) noexcept;

/// A safetensors file begins with the length of its header in this number of bytes.
inline constexpr std::size_t safetensors_length_size = 8;

/// Returns the header of a safetensors file, a JSON object after its length; nothing if the file does not begin so.
std::optional<std::string_view> safetensors_header(Bytes file) noexcept;

/// True if the bytes are a model in text format instead of a serialised one: after white space and comments they begin
/// with the name of a field and its value, and the next 256 bytes contain no control character. Reads only these bytes
/// and the comments before them.
bool looks_like_text(Bytes bytes) noexcept;

}  // namespace onnxar
