#include "freeze/prune.h"

#include "freeze/called_functions.h"
#include "freeze/opsets.h"
#include "freeze/prune_graph.h"

namespace onnxar {

void prune(schema::ModelProto& model, FreezeReport& report) {
  report.training_infos += static_cast<std::uint64_t>(model.training_info_size());
  // Training info may refer to initializers that inference does not need.
  model.clear_training_info();
  CalledFunctions functions(model, report);  // refuses duplicate functions, even if they are not called
  GraphPruner pruner(report);
  const Wanted wanted = pruner.prune(*model.mutable_graph(), "graph", Inputs::dropped_with_initializers);
  if (!wanted.empty()) refuse_dangling(wanted);
  functions.prune(pruner.calls());
  // Last, because the remaining nodes determine which domains are used.
  report.opset_imports += drop_unused_opsets(model);
}

}  // namespace onnxar
