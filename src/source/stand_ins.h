// Replaces stand-ins by links. In models of PyTorch's older exporter a short text stands in for a tensor's data, which
// is in an entry or file with the tensor's name.
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

/// The model with a link in place of each stand-in, so that later steps see an ordinary model with external data.
/// `size_of` returns the size of the data with a tensor's name; nothing if it does not exist. The result is in memory,
/// as a model without its large tensors is small. Errors: wire.*, onnx.*, counted from the model's first byte; those of
/// `size_of`.
std::vector<std::byte> link_stand_ins(Bytes model,
                                      const std::function<std::optional<std::uint64_t>(std::string_view)>& size_of,
                                      const LoadOptions& options);

}  // namespace onnxar
