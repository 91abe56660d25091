// Refuses the verb `show` in a tool that was built without protobuf.
#include "shell/verbs.h"
#include "verbs/without_model/refusal.h"

namespace onnxar::tool {

Verb add_show(CLI::App& app) { return add_refused(app, "show"); }

}  // namespace onnxar::tool
