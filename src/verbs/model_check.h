// The findings of `check` in a model and its further graphs: tensors, links, and unused entries.
#pragma once

#include <vector>

#include "onnxar/convert.h"
#include "onnxar/error.h"
#include "source/resolver.h"

namespace onnxar {

/// Adds the findings in all tensors of the model and of the further graphs, and in how these use the archive.
/// Returns whether the model could be read to its end. Errors: io.*. Cost: O(model + graphs); with `options.data` also
/// the bytes that have a checksum.
bool check_graphs(Resolver& source, const CheckOptions& options, std::vector<Finding>& findings);

/// Does the same for the model alone: without further graphs, overlaps and unused entries.
void check_model_alone(Resolver& source, const CheckOptions& options, std::vector<Finding>& findings);

}  // namespace onnxar
