// Writes the manual page in roff.
#include <utility>

#include "onnxar/version.h"
#include "shell/description.h"
#include "shell/exit_code.h"

namespace onnxar::tool {
namespace {

/// Escapes the characters that roff would interpret, in a line or part of one.
std::string roff(const std::string& text) {
  // Backslashes first: the replacements below insert some.
  std::string safe = replaced(text, "\\", "\\e");
  for (const auto& [plain, escape] :
       {std::pair{"-", "\\-"}, {"'", "\\(aq"}, {"`", "\\(ga"}, {"\"", "\\(dq"}, {"^", "\\(ha"}, {"~", "\\(ti"}}) {
    safe = replaced(safe, plain, escape);
  }
  // roff takes a line that begins with a dot for a request.
  return safe.starts_with('.') ? "\\&" + safe : safe;
}

std::string bold(const std::string& text) { return "\\fB" + roff(text) + "\\fR"; }
std::string italic(const std::string& text) { return "\\fI" + roff(text) + "\\fR"; }
std::string sentence(const std::string& text) { return roff(text) + ".\n"; }

/// Returns `-o, --output FILE`.
std::string usage_of(const Parameter& parameter, bool is_option) {
  std::string text;
  for (const std::string& name : parameter.names) {
    text += (text.empty() ? "" : ", ") + (is_option ? bold(name) : italic(name));
  }
  const bool shows_value = parameter.kind == ValueKind::choice || (is_option && parameter.kind != ValueKind::none);
  return shows_value ? text + " " + italic(parameter.value) : text;
}

std::string item(const Parameter& parameter, bool is_option) {
  std::string text = ".TP\n" + usage_of(parameter, is_option) + "\n" + sentence(parameter.help);
  if (!parameter.preset.empty()) text += "Default: " + roff(parameter.preset) + ".\n";
  if (parameter.repeatable) text += "May be given more than once.\n";
  return text;
}

std::string items(const std::vector<Parameter>& parameters, bool are_options) {
  std::string text;
  for (const Parameter& parameter : parameters) text += item(parameter, are_options);
  return text;
}

/// Returns `onnxar pack [OPTIONS] -o FILE MODEL`.
std::string usage(const VerbDescription& verb) {
  std::string text = bold("onnxar " + verb.name) + " [" + italic("OPTIONS") + "]";
  for (const Parameter& option : verb.options) {
    if (option.required) text += " " + bold(option.names.front()) + " " + italic(option.value);
  }
  for (const Parameter& argument : verb.arguments) {
    const std::string name = italic(argument.names.front());
    text += " " + (argument.required ? name : "[" + name + "]");
  }
  return text + "\n";
}

std::string section(const VerbDescription& verb) {
  // All verbs share one page, so each is a subsection with a usage line.
  std::string text = ".SS " + roff(verb.name) + "\n" + usage(verb) + ".PP\n" + sentence(verb.help);
  text += items(verb.arguments, false) + items(verb.options, true);
  const char* before = ".PP\n";
  for (const std::string& note : CLI::detail::split(verb.notes, '\n')) {
    if (!note.empty()) text += before + roff(note) + "\n";
    before = ".br\n";
  }
  return text;
}

std::string exit_status() {
  std::string text = ".SH EXIT STATUS\n";
  for (std::size_t code = 0; code < exit_code::meanings.size(); ++code) {
    text += ".TP\n" + bold(std::to_string(code)) + "\n" + sentence(std::string(exit_code::meanings.at(code)));
  }
  return text;
}

std::string examples(const std::vector<VerbDescription>& verbs) {
  std::string text = ".SH EXAMPLES\n";
  for (const VerbDescription& verb : verbs) {
    text += ".PP\n" + roff(verb.help) + ":\n.PP\n.RS 4\n.EX\n" + roff(verb.example) + "\n.EE\n.RE\n";
  }
  return text;
}

}  // namespace

std::string manual_page(const CommandLine& line) {
  std::string text = ".\\\" As `onnxar man` prints it.\n.TH ONNXAR 1 \"\" \"onnxar " ONNXAR_VERSION_STRING
                     "\" \"User Commands\"\n.nh\n.ad l\n.SH NAME\nonnxar \\- ";
  text += roff(line.about) + "\n.SH SYNOPSIS\n" + bold("onnxar") + " " + italic("VERB") + " [" + italic("OPTIONS") +
          "] " + italic("ARGUMENTS") + "\n.SH DESCRIPTION\n" + roff(line.about) + "\n.SH OPTIONS\n";
  text += items(line.options, true) + ".SH VERBS\n";
  for (const VerbDescription& verb : line.verbs) text += section(verb);
  return text + exit_status() + examples(line.verbs);
}

}  // namespace onnxar::tool
