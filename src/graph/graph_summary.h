// What a graph is: its interface, its operators, its depth, and what is wrong with it.
#pragma once

#include <map>
#include <memory>
#include <vector>

#include "onnxar/model/inspect.h"
#include "onnxar/onnx.pb.h"

namespace onnxar {

GraphSummary summary_of_graph(const schema::ModelProto& model);

class UsedNames;

/// Orders of the graphs of a model, each found once. The model must outlive it.
class Orders {
 public:
  Orders();
  Orders(const Orders&) = delete;
  Orders& operator=(const Orders&) = delete;
  ~Orders();

  /// The numbers of a graph's nodes in an order in which each stands behind those whose outputs it (or a subgraph of
  /// it) uses. Nodes on a cycle, and those behind them, are missing.
  const std::vector<int>& of(const schema::GraphProto& graph);

 private:
  std::unique_ptr<UsedNames> names_;
  std::map<const schema::GraphProto*, std::vector<int>> known_;
};

}  // namespace onnxar
