// What the outputs of one graph need, with its subgraphs.
#pragma once

#include <array>
#include <set>
#include <string>

#include "freeze/scope.h"
#include "onnxar/model/freeze.h"
#include "onnxar/onnx.pb.h"

namespace onnxar {

/// Domain, name and overload: what a node calls, and what a function is.
using FunctionKey = std::array<std::string, 3>;
FunctionKey key_of(const std::string& domain, const std::string& name, const std::string& overload);

/// Which inputs of a graph may go: callers know those of a subgraph by position.
enum class Inputs : bool { kept, dropped_with_initializers };

/// Prunes graphs, counts what goes, and gathers which functions the nodes that stay may call.
class GraphPruner {
 public:
  explicit GraphPruner(FreezeReport& report) : report_(report) {}

  /// Removes from a graph what its outputs do not need. Returns the names that it uses of the graphs around it.
  /// Errors: onnx.graph.*, onnx.tensor.no_data.
  Wanted prune(schema::GraphProto& graph, const std::string& site, Inputs inputs);

  /// A node of a Scope: prunes its subgraphs, and returns the names that these use of what is around them.
  Wanted enter(schema::NodeProto& node, const std::string& site);

  [[nodiscard]] const std::set<FunctionKey>& calls() const noexcept { return calls_; }

 private:
  void keep_needed_tensors(schema::GraphProto& graph, const std::string& site, const Scope& scope, Names& gone);

  FreezeReport& report_;
  std::set<FunctionKey> calls_;
};

/// Whether a tensor has elements, and the model has no data for them.
bool is_open(const schema::TensorProto& tensor);

}  // namespace onnxar
