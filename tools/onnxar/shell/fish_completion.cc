// Writes the completion script for fish.
#include "shell/description.h"

namespace onnxar::tool {
namespace {

constexpr std::string_view fish_head = R"sh(# Completion of onnxar for fish, as `onnxar completion fish` prints it.
function __onnxar_verb_is
    set -l words (commandline -opc)
    test "$words[2]" = "$argv[1]"
end
complete -c onnxar -e
complete -c onnxar -f
)sh";

/// Quotes text as one word of the shell.
std::string fish_word(const std::string& text) {
  return "'" + replaced(replaced(text, "\\", "\\\\"), "'", "\\'") + "'";
}

/// Returns the beginning of a line that offers words after `verb`, or before any verb if `verb` is empty.
std::string fish_line(const std::string& verb) {
  return "complete -c onnxar -n " + fish_word("__onnxar_verb_is " + (verb.empty() ? "''" : verb));
}

std::string fish_words(const std::vector<std::string>& words) {
  return " -a " + fish_word(CLI::detail::join(words, " "));
}

std::string fish_option(const std::string& verb, const Parameter& option) {
  std::string text = fish_line(verb);
  for (const std::string& name : option.names) {
    text += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
  }
  switch (option.kind) {
    case ValueKind::none: break;
    case ValueKind::any: text += " -x"; break;
    // The script turns off files for the command (`-f`), so options and arguments that take them ask for them (`-F`).
    case ValueKind::file: text += " -r -F"; break;
    case ValueKind::folder: text += " -x -a '(__fish_complete_directories)'"; break;
    case ValueKind::choice: text += " -x" + fish_words(option.choices); break;
  }
  return text + " -d " + fish_word(option.help) + "\n";
}

std::string fish_argument(const std::string& verb, const Parameter& argument) {
  if (argument.kind == ValueKind::file) return fish_line(verb) + " -F\n";
  return argument.kind == ValueKind::choice ? fish_line(verb) + fish_words(argument.choices) + "\n" : "";
}

}  // namespace

std::string fish_completion(const CommandLine& line) {
  std::string text(fish_head);
  for (const VerbDescription& verb : line.verbs) {
    text += fish_line("") + fish_words({verb.name}) + " -d " + fish_word(verb.help) + "\n";
  }
  for (const Parameter& option : line.options) text += fish_option("", option);
  for (const VerbDescription& verb : line.verbs) {
    for (const Parameter& option : verb.options) text += fish_option(verb.name, option);
    for (const Parameter& argument : verb.arguments) text += fish_argument(verb.name, argument);
  }
  return text;
}

}  // namespace onnxar::tool
