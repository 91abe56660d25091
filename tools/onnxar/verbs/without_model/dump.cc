// Refuses the verb `dump` in a tool that was built without protobuf.
#include "shell/verbs.h"
#include "verbs/without_model/refusal.h"

namespace onnxar::tool {

Verb add_dump(CLI::App& app) { return add_refused(app, "dump"); }

}  // namespace onnxar::tool
