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

/// The text that PyTorch's exporter wrote into `raw_data` of a tensor whose bytes are in the entry of the tensor's
/// name.
inline constexpr std::string_view stand_in = "__EXTERNAL";

/// Whether the bytes of the model contain `stand_in` as a field raw_data. Does not parse the messages around the field,
/// so the answer may be wrong for a model with the same bytes elsewhere; then `link_stand_ins` finds no tensor to link.
/// Errors: those of reading `model`. Cost: O(bytes), in constant memory.
bool may_have_stand_ins(const ByteSource& model);

/// The model with a link in place of each stand-in, so that later steps see an ordinary model with external data.
/// `size_of` returns the size of the data with a tensor's name; nothing if it does not exist. The result is in memory,
/// as a model without its large tensors is small. Errors: wire.*, onnx.*, counted from the model's first byte; those of
/// `size_of`.
std::vector<std::byte> link_stand_ins(Bytes model,
                                      const std::function<std::optional<std::uint64_t>(std::string_view)>& size_of,
                                      const LoadOptions& options);

}  // namespace onnxar
