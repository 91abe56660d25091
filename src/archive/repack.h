// Making an archive of a zip file, by one who can read models.
#pragma once

#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "base/keyed_hash.h"
#include "onnxar/bytes.h"
#include "onnxar/edit.h"

namespace onnxar {

/// What a reader of models says; asked only where entries get other names or would have to.
struct ModelReading {
  /// The names of entries that links of a model lead to. Errors: wire.*, onnx.*.
  std::function<base::KeyedSet<std::string>(Bytes model)> linked_names;
  /// Refuses names of entries that leave none to the model. Errors: archive.graph.name, wire.*; without a place.
  std::function<void(Bytes model, std::span<const std::string_view> names)> prove_model_name;
};

RepackReport repack_zip(const std::filesystem::path& input, const std::filesystem::path& output,
                        const RepackOptions& options, const ModelReading& reading);

}  // namespace onnxar
