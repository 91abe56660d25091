// Refuses to move the data of names that a graph defines more than once. Moving it into or out of the model could
// change the definition that a runtime uses (onnx/duplicates.h).
#pragma once

#include <filesystem>

#include "convert/loaded_model.h"
#include "onnx/sites.h"
#include "onnxar/error.h"

namespace onnxar {

/// Refuses to move the data of a tensor into the model at `path`: throws onnx.graph.duplicate, with `hint` as advice.
[[noreturn]] void refuse_duplicate(const onnx::TensorSite& site, const std::filesystem::path& path, Hint hint);

/// Refuses a model that has such a tensor with external data, for outputs with all data inside. Does not check the
/// other graphs. Throws what `refuse_duplicate` throws. Cost: O(fields of the skeleton).
void refuse_duplicates_outside(const LoadedModel& model, const std::filesystem::path& path, Hint hint);

}  // namespace onnxar
