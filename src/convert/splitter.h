// Splits one graph into a skeleton and payloads.
#pragma once

#include "convert/loaded_model.h"
#include "convert/model_source.h"
#include "onnxar/options.h"

namespace onnxar {

/// Splits one graph, and adds its payloads and remarks to `model`. A link of the graph names a payload that the model
/// already has, or data that `source`, which has selected the graph, finds; without a source, a link to a file cannot
/// be resolved. Remarks name GraphBytes::entry. The result has no name. Errors: as `load_model` and `set_skeleton`,
/// counted from the graph's first byte. Cost: O(fields); no payload byte is touched, except values of typed fields.
LoadedGraph split_graph(LoadedModel& model, ModelSource* source, GraphBytes graph, const ExternalPolicy& policy,
                        const LoadOptions& options);

}  // namespace onnxar
