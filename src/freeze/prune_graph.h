// Reduces one graph and its subgraphs to what its outputs need.
#pragma once

#include <array>
#include <set>
#include <string>

#include "freeze/scope.h"
#include "onnxar/model/freeze.h"
#include "onnxar/onnx.pb.h"

namespace onnxar {

/// Domain, name and overload: identifies a function, or what a node calls.
using FunctionKey = std::array<std::string, 3>;
FunctionKey key_of(const std::string& domain, const std::string& name, const std::string& overload);

/// Whether inputs of a graph may be removed. Callers pass the inputs of a subgraph by position, so those are kept.
enum class Inputs : bool { kept, dropped_with_initializers };

/// Prunes graphs, counts what it removes, and gathers the functions that the remaining nodes may call.
class GraphPruner {
 public:
  explicit GraphPruner(FreezeReport& report) : report_(report) {}

  /// Removes everything from a graph that its outputs do not need. Returns the names that it uses from outer graphs.
  /// Errors: onnx.graph.*, onnx.tensor.no_data.
  Wanted prune(schema::GraphProto& graph, const std::string& site, Inputs inputs);

  /// Prunes the subgraphs of a node, and returns the names that they use from outer graphs. For Scope::Enter.
  Wanted enter(schema::NodeProto& node, const std::string& site);

  [[nodiscard]] const std::set<FunctionKey>& calls() const noexcept { return calls_; }

 private:
  void keep_needed_tensors(schema::GraphProto& graph, const std::string& site, const Scope& scope, Names& gone);

  FreezeReport& report_;
  std::set<FunctionKey> calls_;
};

/// Whether a tensor has elements but the model has no data for them.
bool is_open(const schema::TensorProto& tensor);

}  // namespace onnxar
