// What `check` finds in a model and its further graphs: tensors, links, and what nothing uses.
#pragma once

#include <vector>

#include "onnxar/convert.h"
#include "onnxar/error.h"
#include "source/resolver.h"

namespace onnxar {

/// Adds what is wrong with any tensor of the model and of the further graphs, and with their use of the archive.
/// Returns whether the model could be read to its end. Errors: io.*. Cost: O(model + graphs); with `options.data` also
/// the bytes that have a checksum.
bool check_graphs(Resolver& source, const CheckOptions& options, std::vector<Finding>& findings);

/// As above for the model alone: without further graphs, overlaps and unused entries.
void check_model_alone(Resolver& source, const CheckOptions& options, std::vector<Finding>& findings);

}  // namespace onnxar
