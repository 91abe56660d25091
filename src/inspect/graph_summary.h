// Summarises the main graph (interface, operators, depth, faults), its nodes and its tensors, and estimates its cost.
#pragma once

#include "convert/load.h"
#include "inspect/inspection.h"
#include "inspect/open_dimensions.h"
#include "inspect/size.h"
#include "model/walk.h"
#include "onnxar/onnx.pb.h"

namespace onnxar {

/// A node in one line: operator, names, attributes, site.
NodeSummary summary_of(const schema::NodeProto& node, const Site& site);

/// `model` is a parsed skeleton: payloads are not needed. Cost: linear in the size of the message.
GraphSummary summary_of_graph(const schema::ModelProto& model);

/// Fills in the fields of `inspection` about tensors and storage, and the maps of files if `options` ask for them.
/// `source` is the model that was opened from `path`, and `proto` is its parsed skeleton.
void add_tensors(Inspection& inspection, const std::filesystem::path& path, const ModelSource& source,
                 const schema::ModelProto& proto, const InspectOptions& options);

/// Estimates multiply-adds within the budget, for the given sizes of dimensions and values of inputs. Nodes beyond the
/// budget are listed as unknown.
CostEstimate estimate_cost(const schema::ModelProto& model, Budget& budget, const Bindings& bindings = {});

}  // namespace onnxar
