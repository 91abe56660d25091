// Prints the manual page, for the verb `man`.
#include <iostream>

#include "shell/description.h"
#include "shell/exit_code.h"
#include "shell/verbs.h"

namespace onnxar::tool {

/// Hidden from `--help`, because only packagers need it.
Verb add_man(CLI::App& app) {
  CLI::App* verb = app.add_subcommand("man", "Print the manual page")->group("");
  verb->footer("Example: onnxar man > onnxar.1");
  return {verb, [&app] {
            std::cout << manual_page(describe(app));
            return exit_code::done;
          }};
}

}  // namespace onnxar::tool
