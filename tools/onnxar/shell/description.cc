// Describes the verbs and their options as data, for help, completions and the manual page.
#include "shell/description.h"

#include <algorithm>
#include <cctype>
#include <utility>

#include "shell/options.h"

namespace onnxar::tool {
namespace {

/// Derives the kind from the type's name. A type in lower case lists the words that the option accepts: see add_choice.
ValueKind kind_of(const CLI::Option& option) {
  if (option.get_items_expected_max() == 0) return ValueKind::none;
  const std::string type = option.get_type_name();
  if (type == value_type::file) return ValueKind::file;
  if (type == value_type::folder) return ValueKind::folder;
  return std::ranges::any_of(type, [](unsigned char c) { return std::islower(c) != 0; }) ? ValueKind::choice
                                                                                         : ValueKind::any;
}

Parameter parameter(const CLI::Option& option) {
  Parameter found;
  if (option.get_positional()) found.names.push_back(option.get_name(true));
  for (const std::string& name : option.get_snames()) found.names.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) found.names.push_back("--" + name);
  found.kind = kind_of(option);
  if (found.kind != ValueKind::none) {
    found.value = option.get_type_name();
    found.preset = option.get_default_str();
  }
  if (found.kind == ValueKind::choice) found.choices = CLI::detail::split(found.value, '|');
  found.help = option.get_description();
  found.required = option.get_required();
  found.repeatable = option.get_items_expected_max() > 1;
  return found;
}

/// Returns the options that `--help` lists. Those without a group, which are for programs, are hidden.
std::vector<const CLI::Option*> listed(const CLI::App& app) {
  return app.get_options([](const CLI::Option* option) { return !option->get_group().empty(); });
}

/// Adds the parameters of a verb and of its option groups, which CLI11 represents as subcommands without a name.
void add_parameters(const CLI::App& app, VerbDescription& verb) {
  for (const CLI::Option* option : listed(app)) {
    (option->get_positional() ? verb.arguments : verb.options).push_back(parameter(*option));
  }
  for (const CLI::App* group : app.get_subcommands({})) {
    if (group->get_name().empty()) add_parameters(*group, verb);
  }
}

}  // namespace

VerbDescription describe_verb(const CLI::App& app) {
  constexpr std::string_view label = "Example: ";
  VerbDescription verb;
  verb.name = app.get_name();
  verb.help = app.get_description();
  const std::string footer = app.get_footer();
  // Footers end with the example: `--help` prints both as one text, and the manual page has a section of examples.
  const std::size_t example = std::min(footer.find(label), footer.size());
  verb.notes = CLI::detail::trim_copy(footer.substr(0, example));
  if (example < footer.size()) verb.example = footer.substr(example + label.size());
  add_parameters(app, verb);
  return verb;
}

CommandLine describe(const CLI::App& app) {
  CommandLine line;
  line.about = app.get_description();
  for (const CLI::Option* option : listed(app)) line.options.push_back(parameter(*option));
  for (const CLI::App* verb : app.get_subcommands({})) {
    if (!verb->get_group().empty()) line.verbs.push_back(describe_verb(*verb));
  }
  return line;
}

std::vector<std::string> names_of(const std::vector<Parameter>& options) {
  std::vector<std::string> names;
  for (const Parameter& option : options) names.insert(names.end(), option.names.begin(), option.names.end());
  return names;
}

std::string replaced(std::string text, std::string_view from, std::string_view to) {
  // Goes on after the inserted text, which may contain `from`: roff writes a backslash as `\e`.
  for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size()) {
    text.replace(at, from.size(), to);
  }
  return text;
}

}  // namespace onnxar::tool
