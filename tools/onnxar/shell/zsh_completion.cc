// Writes the completion script for zsh.
#include "shell/description.h"

namespace onnxar::tool {
namespace {

constexpr std::string_view zsh_head = R"sh(#compdef onnxar
# Completion of onnxar for zsh, as `onnxar completion zsh` prints it.
_onnxar() {
  local curcontext=$curcontext context state state_descr line ret=1
  local -A opt_args
  local -a verbs=(
)sh";

constexpr std::string_view zsh_tail = R"sh(      esac
      ;;
  esac
  return ret
}
# zsh calls _onnxar if a folder of $fpath has this file. Otherwise the file was sourced, and registers the function.
if [[ ${funcstack[1]} == _onnxar ]]; then
  _onnxar "$@"
else
  compdef _onnxar onnxar
fi
)sh";

/// Quotes text as one word of the shell.
std::string zsh_word(const std::string& text) { return "'" + replaced(text, "'", R"('\'')") + "'"; }

/// Escapes text for use between colons or in brackets.
std::string zsh_plain(std::string text) {
  for (const char* special : {"\\", ":", "[", "]"}) text = replaced(text, special, std::string("\\") + special);
  return text;
}

/// Returns `FILE:_files`.
std::string zsh_value(const std::string& name, const Parameter& parameter) {
  const std::string begin = zsh_plain(name) + ":";
  switch (parameter.kind) {
    case ValueKind::file: return begin + "_files";
    case ValueKind::folder: return begin + "_files -/";
    case ValueKind::choice: return begin + "(" + CLI::detail::join(parameter.choices, " ") + ")";
    case ValueKind::none:
    case ValueKind::any: break;
  }
  return begin + " ";
}

/// Returns one word for each name of the option. After an option is given, zsh no longer offers its other names; after
/// --help or --version, it offers nothing.
std::string zsh_option(const Parameter& option) {
  const bool ends = option.names.back() == "--help" || option.names.back() == "--version";
  const std::string begin =
      option.repeatable ? "*" : "(" + (ends ? "- : *" : CLI::detail::join(option.names, " ")) + ")";
  std::string text;
  for (const std::string& name : option.names) {
    std::string word = begin + name;
    // zsh accepts the value in the same word: `--output=FILE` and `-oFILE`, or as the next one.
    if (option.kind != ValueKind::none) word += name.starts_with("--") ? "=" : "+";
    word += "[" + zsh_plain(option.help) + "]";
    if (option.kind != ValueKind::none) word += ":" + zsh_value(option.value, option);
    text += " \\\n            " + zsh_word(word);
  }
  return text;
}

std::string zsh_case(const VerbDescription& verb) {
  std::string text = "        " + verb.name + ")\n          _arguments -s -S";
  for (const Parameter& option : verb.options) text += zsh_option(option);
  for (const Parameter& argument : verb.arguments) {
    text +=
        " \\\n            " + zsh_word((argument.required ? ":" : "::") + zsh_value(argument.names.front(), argument));
  }
  return text + " && ret=0\n          ;;\n";
}

}  // namespace

std::string zsh_completion(const CommandLine& line) {
  std::string text(zsh_head);
  for (const VerbDescription& verb : line.verbs) {
    text += "    " + zsh_word(zsh_plain(verb.name) + ":" + verb.help) + "\n";
  }
  text += "  )\n  _arguments -C";
  for (const Parameter& option : line.options) text += zsh_option(option);
  text += " \\\n            '1: :->verb' '*:: :->rest' && ret=0\n";
  text += "  case $state in\n    verb) _describe -t verbs verb verbs && ret=0 ;;\n    rest)\n      case $words[1] in\n";
  for (const VerbDescription& verb : line.verbs) text += zsh_case(verb);
  return text + std::string(zsh_tail);
}

}  // namespace onnxar::tool
