// Stand-ins: in models of PyTorch's older exporter a short text takes the place of a tensor's data, which is in an
// entry or file of the tensor's name.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>
#include <vector>

#include "onnxar/bytes.h"
#include "onnxar/options.h"

namespace onnxar {

/// The model with a link in the place of each stand-in: from there on it is like any other with external data.
/// `size_of` gives the size of the data of that name, if there is any. The result is in memory, as the model is small
/// without its large tensors. Errors: wire.*, onnx.*, counted from the model's first byte; those of `size_of`.
std::vector<std::byte> link_stand_ins(Bytes model,
                                      const std::function<std::optional<std::uint64_t>(std::string_view)>& size_of,
                                      const LoadOptions& options);

}  // namespace onnxar
