// Refuses the verb `freeze` in a tool that was built without protobuf.
#include "shell/verbs.h"
#include "verbs/without_model/refusal.h"

namespace onnxar::tool {

Verb add_freeze(CLI::App& app) { return add_refused(app, "freeze"); }

}  // namespace onnxar::tool
