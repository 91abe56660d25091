// Writes the completion script for bash.
#include <algorithm>

#include "shell/description.h"

namespace onnxar::tool {
namespace {

constexpr std::string_view bash_head = R"sh(# Completion of onnxar for bash, as `onnxar completion bash` prints it.
_onnxar() {
  local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]} verb= kind=files words=
  ((COMP_CWORD == 1)) || verb=${COMP_WORDS[1]}
  if [[ $word == '=' ]]; then  # readline makes words of --option=value
    word=
  elif [[ $before == '=' ]]; then
    before=${COMP_WORDS[COMP_CWORD - 2]}
  fi
  case $verb in
)sh";

constexpr std::string_view bash_tail = R"sh(  esac
  COMPREPLY=()
  case $kind in
    files) ;;  # readline's own, which knows of quoting
    folders) compopt +o default -o dirnames ;;
    nothing) compopt +o default ;;
    words)
      compopt +o default
      mapfile -t COMPREPLY < <(compgen -W "$words" -- "$word")
      ;;
  esac
}
complete -o default -F _onnxar onnxar
)sh";

std::string joined_words(const std::vector<std::string>& words, const char* between = " ") {
  return CLI::detail::join(words, between);
}

/// Returns the assignment that completes a value.
std::string bash_kind(const Parameter& parameter) {
  switch (parameter.kind) {
    case ValueKind::file: return "kind=files";
    case ValueKind::folder: return "kind=folders";
    case ValueKind::choice: return "kind=words words='" + joined_words(parameter.choices) + "'";
    case ValueKind::none:
    case ValueKind::any: break;
  }
  return "kind=nothing";
}

/// The script does not count arguments, so it offers files if any argument is a file.
std::string bash_kind_of_arguments(const std::vector<Parameter>& arguments) {
  const auto is_file = [](const Parameter& argument) { return argument.kind == ValueKind::file; };
  const auto found = std::ranges::find_if(arguments, is_file);
  if (found != arguments.end()) return bash_kind(*found);
  return arguments.empty() ? "kind=nothing" : bash_kind(arguments.front());
}

std::string bash_case(const std::string& verb, const std::vector<Parameter>& arguments,
                      const std::vector<Parameter>& options) {
  std::string text = "    " + verb + ")\n      case $before in\n";
  for (const Parameter& option : options) {
    // A flag has no value: the word after it is completed like any other argument.
    if (option.kind == ValueKind::none) continue;
    text += "        " + joined_words(option.names, " | ") + ") " + bash_kind(option) + " ;;\n";
  }
  return text + "        *)\n          " + bash_kind_of_arguments(arguments) +
         "\n          [[ $word != -* ]] || kind=words words='" + joined_words(names_of(options)) +
         "'\n          ;;\n      esac\n      ;;\n";
}

}  // namespace

std::string bash_completion(const CommandLine& line) {
  Parameter verb;
  verb.kind = ValueKind::choice;
  std::string cases;
  for (const VerbDescription& each : line.verbs) {
    verb.choices.push_back(each.name);
    cases += bash_case(each.name, each.arguments, each.options);
  }
  // Before a verb is typed, the verbs are the choices of a first argument. One case per verb follows.
  return std::string(bash_head) + bash_case("''", {verb}, line.options) + cases + std::string(bash_tail);
}

}  // namespace onnxar::tool
