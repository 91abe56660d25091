// Prints `--help` from the description that completions and the manual page are made from.
#include <memory>

#include "shell/description.h"
#include "shell/terminal.h"

namespace onnxar::tool {
namespace {

constexpr std::size_t column = 28;  // where descriptions begin
constexpr std::size_t width = 100;

/// Returns `text` in lines that begin at `column`; the first line follows the text before it.
std::string in_column(const std::string& text) {
  return CLI::detail::join(wrapped(text, width - column), "\n" + std::string(column, ' '));
}

std::string item(const std::string& name, const std::string& text) {
  std::string out = "  " + name;
  // A long name has a line of its own.
  if (out.size() + 2 > column) {
    out += "\n" + std::string(column, ' ');
  } else {
    out.resize(column, ' ');
  }
  return out + in_column(text) + "\n";
}

/// Returns `-o, --output FILE`; `MODEL...` for an argument.
std::string name_of(const Parameter& parameter, bool is_option) {
  std::string text = CLI::detail::join(parameter.names, ", ");
  if (!is_option) return text + (parameter.repeatable ? "..." : "");
  if (text.starts_with("--")) text.insert(0, "    ");  // below the long names of others
  return parameter.kind == ValueKind::none ? text : text + " " + parameter.value;
}

std::string items(std::string_view title, const std::vector<Parameter>& parameters, bool are_options) {
  std::string text = parameters.empty() ? "" : "\n" + std::string(title) + ":\n";
  for (const Parameter& parameter : parameters) {
    std::string words = parameter.help;
    if (are_options && parameter.required) words += " (required)";
    if (!parameter.preset.empty()) words += " (default: " + parameter.preset + ")";
    if (are_options && parameter.repeatable) words += " (may be repeated)";
    text += item(name_of(parameter, are_options), words);
  }
  return text;
}

std::string help_of(const VerbDescription& verb) {
  std::string text = verb.help + "\n\nUsage: onnxar " + verb.name + " [OPTIONS]";
  for (const Parameter& argument : verb.arguments) {
    const std::string name = name_of(argument, false);
    text += argument.required ? " " + name : " [" + name + "]";
  }
  text += "\n" + items("Arguments", verb.arguments, false) + items("Options", verb.options, true);
  if (!verb.notes.empty()) text += "\n" + verb.notes + "\n";
  return text + "\nExample: " + verb.example + "\n";
}

std::string help_of(const CommandLine& line, const std::string& footer) {
  std::string text = line.about + "\n\nUsage: onnxar VERB [OPTIONS] ARGUMENTS\n\nVerbs:\n";
  for (const VerbDescription& verb : line.verbs) text += item(verb.name, verb.help);
  return text + items("Options", line.options, true) + "\n" + footer + "\n";
}

class HelpText final : public CLI::FormatterBase {
 public:
  std::string make_help(const CLI::App* app, std::string /*name*/, CLI::AppFormatMode /*mode*/) const override {
    return app->get_parent() == nullptr ? help_of(describe(*app), app->get_footer()) : help_of(describe_verb(*app));
  }
};

}  // namespace

std::shared_ptr<CLI::FormatterBase> help_text() { return std::make_shared<HelpText>(); }

}  // namespace onnxar::tool
