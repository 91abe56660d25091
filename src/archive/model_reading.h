// The functions by which `repack` reads models. A room above implements them, because this one does not know protobuf.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "archive/foreign_zip.h"
#include "base/keyed_hash.h"
#include "onnxar/bytes.h"

namespace onnxar {

/// Reads models for `repack`. `linked_names` and `prove_model_name` are called only if entries are renamed, would have
/// to be renamed, or are left out; `has_stand_ins` only if the zip is not an archive.
struct ModelReading {
  /// Returns the names of the entries that a model links to. Errors: wire.*, onnx.*.
  std::function<base::KeyedSet<std::string>(Bytes model)> linked_names;
  /// Checks that the graph name in the model does not clash with names of entries (G4). Errors: archive.graph.name,
  /// wire.*; without a place.
  std::function<void(Bytes model, std::span<const std::string_view> names)> prove_model_name;
  HasStandIns has_stand_ins;
};

}  // namespace onnxar
