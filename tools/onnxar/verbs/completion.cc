// Prints completion scripts, for the verb `completion`.
#include <iostream>
#include <memory>

#include "shell/description.h"
#include "shell/exit_code.h"
#include "shell/options.h"
#include "shell/verbs.h"

namespace onnxar::tool {

Verb add_completion(CLI::App& app) {
  auto shell = std::make_shared<std::string>();
  CLI::App* verb = app.add_subcommand("completion", "Print a script that makes a shell complete verbs and options");
  add_choice(*verb, "SHELL", *shell, {"bash", "zsh", "fish"}, "The shell")->required();
  verb->footer(
      "In ~/.bashrc: source <(onnxar completion bash)\n"
      "In ~/.zshrc, after compinit: source <(onnxar completion zsh)\n"
      "Example: onnxar completion fish > ~/.config/fish/completions/onnxar.fish");
  return {verb, [&app, shell] {
            const CommandLine line = describe(app);
            std::cout << (*shell == "bash"  ? bash_completion(line)
                          : *shell == "zsh" ? zsh_completion(line)
                                            : fish_completion(line));
            return exit_code::done;
          }};
}

}  // namespace onnxar::tool
