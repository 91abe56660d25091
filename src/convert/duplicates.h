// Keeps data where it is if a graph defines its name more than once. Moving it into or out of the model could
// change the definition that a runtime uses (onnx/duplicates.h).
#pragma once

#include <filesystem>

#include "convert/loaded_model.h"
#include "onnx/sites.h"
#include "onnxar/error.h"

namespace onnxar {

/// Returns the warning that the data of such a tensor stays where it is, inside the model or outside. `place` is the
/// tensor's place in the input.
Finding duplicate_stays(const onnx::TensorSite& site, Place place, bool is_inside);

/// Refuses to move the data of a tensor into the model at `path`: throws onnx.graph.duplicate, with `hint` as advice.
[[noreturn]] void refuse_duplicate(const onnx::TensorSite& site, const std::filesystem::path& path, Hint hint);

/// Refuses a model that has such a tensor with external data, for outputs with all data inside. Does not check the
/// other graphs. Throws what `refuse_duplicate` throws. Cost: O(fields of the skeleton).
void refuse_duplicates_outside(const LoadedModel& model, const std::filesystem::path& path, Hint hint);

}  // namespace onnxar
