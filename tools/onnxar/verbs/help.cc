// Prints the help of a verb, for the verb `help`.
#include <iostream>
#include <memory>

#include "shell/exit_code.h"
#include "shell/verb_names.h"
#include "shell/verbs.h"

namespace onnxar::tool {

Verb add_help(CLI::App& app) {
  auto name = std::make_shared<std::string>();
  CLI::App* verb = app.add_subcommand("help", "Describe a verb, as `onnxar VERB --help` does");
  verb->add_option("VERB", *name, "The verb; without it, all verbs are listed");
  verb->footer("Example: onnxar help pack");
  return {verb, [&app, name] {
            // CLI11 prints the help of the verb that was parsed, which is this one.
            if (!name->empty()) {
              std::cout << expect_verb(app, *name).help(app.get_name());
            } else {
              app.clear();
              std::cout << app.help();
            }
            return exit_code::done;
          }};
}

}  // namespace onnxar::tool
