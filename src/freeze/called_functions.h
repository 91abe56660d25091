// Removes the functions that a model does not call.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "freeze/prune_graph.h"
#include "onnxar/model/freeze.h"
#include "onnxar/onnx.pb.h"

namespace onnxar {

/// The functions that a model calls, directly or through other functions.
class CalledFunctions {
 public:
  /// `model` and `report` must outlive this object. Errors: onnx.graph.duplicate.
  CalledFunctions(schema::ModelProto& model, FreezeReport& report);

  /// Removes the functions that neither `calls` nor called functions contain, and prunes the others.
  /// Errors: onnx.graph.*, onnx.tensor.no_data.
  void prune(const std::set<FunctionKey>& calls);

 private:
  [[nodiscard]] std::vector<int> numbers_of(const std::set<FunctionKey>& calls) const;
  std::vector<int> prune_body(int index);
  void refuse_recursion() const;

  schema::ModelProto& model_;
  FreezeReport& report_;
  std::map<FunctionKey, int> numbers_;
  std::vector<bool> called_;               // by number
  std::vector<std::vector<int>> callees_;  // by number
};

/// Throws onnx.graph.dangling for the first of these undefined names.
[[noreturn]] void refuse_dangling(const Wanted& wanted);

}  // namespace onnxar
