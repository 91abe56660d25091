#include "freeze/prune.h"

#include "freeze/called_functions.h"
#include "freeze/opsets.h"
#include "freeze/prune_graph.h"

namespace onnxar {

void prune(schema::ModelProto& model, FreezeReport& report) {
  report.training_infos += static_cast<std::uint64_t>(model.training_info_size());
  // Before the graph is pruned: the algorithm of training must not keep initializers that inference does not need.
  model.clear_training_info();
  CalledFunctions functions(model, report);  // refuses functions that are defined twice, called or not
  GraphPruner pruner(report);
  const Wanted wanted = pruner.prune(*model.mutable_graph(), "graph", Inputs::dropped_with_initializers);
  if (!wanted.empty()) refuse_dangling(wanted);
  functions.prune(pruner.calls());
  // Last, because it counts domains of the nodes that are left.
  report.opset_imports += drop_unused_opsets(model);
}

}  // namespace onnxar
