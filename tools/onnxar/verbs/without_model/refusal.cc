// Refuses verbs and options in a tool that was built without protobuf.
#include "verbs/without_model/refusal.h"

#include <string>

#include "onnxar/error.h"
#include "shell/verbs.h"

namespace onnxar::tool {

void refuse_without_protobuf(const std::string& what) {
  throw Error(
      Code::usage_argument,
      what +
          " needs protobuf, but this onnxar was built without it; use the command of the Python package, or build "
          "with libprotobuf-dev and -DONNXAR_BUILD_MODEL=ON");
}

Verb add_refused(CLI::App& app, const std::string& name) {
  CLI::App* verb = app.add_subcommand(name, "Needs protobuf, but this onnxar was built without it");
  // Any options are accepted, so that the answer is the missing protobuf and not an unknown option.
  verb->allow_extras();
  verb->footer("Example: onnxar " + name + " model.onnxar, where it was built with protobuf");
  return {verb, [name]() -> int { refuse_without_protobuf("`" + name + "`"); }};
}

}  // namespace onnxar::tool
