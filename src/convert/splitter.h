// Splits one graph into a skeleton and payloads.
#pragma once

#include "convert/external_policy.h"
#include "convert/loaded_model.h"
#include "convert/model_source.h"
#include "onnxar/options.h"

namespace onnxar {

/// Splits one graph, and adds its payloads and remarks to `model`. A link of the graph must name a payload that the
/// model already has, or data that `source` finds. `source` must have selected the graph; if it is null, links to files
/// cannot be resolved. Remarks name GraphBytes::entry. The result has no name. Throws what `load_model` and
/// `set_skeleton` throw, with offsets from the graph's first byte. Cost: O(fields); reads no payload byte, except
/// values of typed fields.
LoadedGraph split_graph(LoadedModel& model, ModelSource* source, GraphBytes graph, const ExternalPolicy& policy,
                        const LoadOptions& options);

}  // namespace onnxar
