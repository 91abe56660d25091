// Refuses the verb `diff` in a tool that was built without protobuf.
#include "shell/verbs.h"
#include "verbs/without_model/refusal.h"

namespace onnxar::tool {

Verb add_diff(CLI::App& app) { return add_refused(app, "diff"); }

}  // namespace onnxar::tool
