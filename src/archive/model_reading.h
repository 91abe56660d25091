// What `repack` asks a reader of models, which lives in a layer above.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "base/keyed_hash.h"
#include "onnxar/bytes.h"

namespace onnxar {

/// The questions about models that `repack` has. They are asked only if entries get other names, or would have to.
struct ModelReading {
  /// The names of the entries that a model links to. Errors: wire.*, onnx.*.
  std::function<base::KeyedSet<std::string>(Bytes model)> linked_names;
  /// Refuses names of entries with which the model's own name clashes (G4). Errors: archive.graph.name, wire.*; without
  /// a place.
  std::function<void(Bytes model, std::span<const std::string_view> names)> prove_model_name;
};

}  // namespace onnxar
