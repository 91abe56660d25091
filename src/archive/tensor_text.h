// Describes tensors in messages and reports.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "onnx/sites.h"
#include "onnxar/error.h"
#include "onnxar/tensor.h"

namespace onnxar {

/// Returns the name and site of a tensor: `tensor "w" (graph.initializer[3])`.
std::string describe(const onnx::TensorSite& site);

/// The maximum number of sites that an error lists.
inline constexpr std::size_t most_candidates = 20;
/// Returns the error usage.ambiguous_tensor for a text that means `count` tensors, with `advice` and the sites of the
/// first `most_candidates`.
Error ambiguous_tensor(std::string_view text, std::size_t count, std::string_view advice,
                       std::span<const std::string> sites);

/// Returns the warning that a tensor with elements has no data (R11). `place` is the tensor's place in the input.
/// REQUIRES: site.tensor.lacks_data()
Finding no_data(const onnx::TensorSite& site, Place place);

/// Returns the text that the graph of a tensor defines its name more than once, followed by the consequence `then`.
std::string duplicate_text(const onnx::TensorSite& site, std::string_view then);

/// Returns the text that the link of a tensor leads to a file that was not loaded. `tensor` describes it.
std::string not_loaded_text(std::string_view tensor, std::string_view location);

/// Returns the text of a key of external data that ONNX does not define (R7).
std::string unknown_key_text(std::string_view key);

/// Returns the public description of a tensor. Copies its name.
TensorInfo info_of(const onnx::TensorSite& site);

}  // namespace onnxar
