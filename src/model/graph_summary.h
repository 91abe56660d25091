// What a graph is: its interface, its operators, its depth, and what is wrong with it.
#pragma once

#include <vector>

#include "onnxar/inspect.h"
#include "onnxar/onnx.pb.h"

namespace onnxar {

GraphSummary summary_of_graph(const schema::ModelProto& model);

/// The numbers of a graph's nodes in an order in which each stands behind those whose outputs it (or a subgraph of it)
/// uses. Nodes on a cycle, and those behind them, are missing.
std::vector<int> topological_order(const schema::GraphProto& graph);

}  // namespace onnxar
