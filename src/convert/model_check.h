// Makes the findings of `check` in a model and its graphs: tensors, links, and unused entries.
#pragma once

#include <vector>

#include "convert/model_source.h"
#include "convert/open.h"
#include "onnxar/convert.h"
#include "onnxar/error.h"

namespace onnxar {

/// Adds the findings in all tensors of the model and of the other graphs, and in their use of the archive. Returns true
/// if the model could be read to its end. Throws io.*. Cost: O(model + graphs); with `options.data` also the bytes that
/// have a checksum.
bool check_graphs(ModelSource& source, const CheckOptions& options, std::vector<Finding>& findings);

/// Throws the first error that `check` without `data` finds in the archive and its model, for readers that must refuse
/// a faulty archive. Does not check other graphs, overlaps and unused entries. Costs as much as `check`.
void refuse_faults(ArchiveSource& source, const LoadOptions& options);

}  // namespace onnxar
