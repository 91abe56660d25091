// Refuses verbs and options that need protobuf, in a tool that was built without it.
#include <string>

#include "shell/addresses.h"
#include "shell/command.h"

namespace onnxar::tool {
namespace {

[[noreturn]] void refuse(const std::string& what) {
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
  return {verb, [name]() -> int { refuse("`" + name + "`"); }};
}

}  // namespace

Verb add_show(CLI::App& app) { return add_refused(app, "show"); }
Verb add_dump(CLI::App& app) { return add_refused(app, "dump"); }
Verb add_diff(CLI::App& app) { return add_refused(app, "diff"); }
Verb add_freeze(CLI::App& app) { return add_refused(app, "freeze"); }

LoadOptions load_options() {
  LoadOptions load;
  load.text_parser = [](Bytes) -> std::vector<std::byte> { refuse("a model as text"); };
  load.open_ranges = address_opener();
  return load;
}

ConvertReport write_text(const std::filesystem::path& /*input*/, const std::filesystem::path& /*output*/,
                         const SaveOptions& /*save*/, const LoadOptions& /*load*/) {
  refuse("`--text`");
}

}  // namespace onnxar::tool
