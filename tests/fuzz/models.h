// Helpers of targets that load models.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "fuzz/fuzz.h"
#include "onnxar/model/model.h"

namespace onnxar::fuzz {

/// Fuzzers produce small data, and all of it counts.
inline LoadOptions loaded_as(bool no_copy) { return {.threshold = 1, .no_copy = no_copy}; }

using Payloads = std::map<std::string, std::vector<std::byte>>;

/// The raw bytes of each tensor by its site; nothing for tensors without raw bytes (strings, counts that do not match).
inline Payloads payloads_of(const Model& model) {
  Payloads all;
  for_each_tensor(model.proto(), [&](const schema::TensorProto& tensor, const TensorInfo& info) {
    const auto payload = accepted([&] { return model.payload(tensor); });
    if (payload) all[info.site].assign(payload->bytes().begin(), payload->bytes().end());
  });
  return all;
}

}  // namespace onnxar::fuzz
