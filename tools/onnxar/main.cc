// Parses the command line, runs one verb, and turns errors into messages and exit codes.
#include <algorithm>
#include <array>
#include <exception>
#include <iostream>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "archive/front_end.h"
#include "onnxar/version.h"
#include "os/process.h"
#include "shell/description.h"
#include "shell/exit_code.h"
#include "shell/hints.h"
#include "shell/json.h"
#include "shell/near_words.h"
#include "shell/progress_line.h"
#include "shell/shortened.h"
#include "shell/terminal.h"
#include "shell/verb_names.h"
#include "shell/verbs.h"

namespace onnxar::tool {
namespace {

std::string exit_codes() {
  std::string text = "Exit:";
  for (std::size_t code = 0; code < exit_code::meanings.size(); ++code) {
    text += "\n    " + std::to_string(code) + " " + std::string(exit_code::meanings.at(code));
  }
  return text;
}

int run_verb(std::span<const Verb> verbs) {
  for (const Verb& verb : verbs) {
    if (verb.app->parsed()) return verb.run();
  }
  // Not reached: CLI11 requires a verb.
  return exit_code::usage;
}

/// Returns `code` after the standard output has accepted everything. Throws io.failed.
int flushed(int code) {
  // A full disk may show only at the flush. Without this check, a truncated listing would end with exit code 0.
  std::cout.flush();
  if (!std::cout) throw Error(Code::io_failed, "cannot write to the standard output");
  return code;
}

using Words = std::span<char* const>;

constexpr std::string_view json_errors = "--json-errors";

bool is_option(std::string_view word) { return word.starts_with('-'); }

/// Names the unknown verb. CLI11 would only report that a verb is missing.
void refuse_unknown_verb(const CLI::App& app, Words words) {
  const auto first = std::ranges::find_if_not(words.subspan(1), is_option);
  if (first == words.subspan(1).end()) return;
  expect_verb(app, *first);
}

/// Returns the first option that the verb does not have, or an empty string. CLI11 may otherwise report a consequence
/// of a misspelt option first: that the right option is missing.
std::string unknown_option(const CLI::App& app) {
  const std::vector<std::string> extras = app.remaining(true);
  const auto option = std::ranges::find_if(extras, [](const std::string& word) { return is_option(word); });
  return option == extras.end() ? "" : option->substr(0, option->find('='));
}

/// Refuses an empty value, which would mean the same as no option and often comes from an unset shell variable.
void refuse_empty_values(const CLI::App& app) {
  for (const CLI::Option* option : app.get_options()) {
    if (option->get_positional() || std::ranges::count(option->results(), "") == 0) continue;
    throw Error(Code::usage_argument, option->get_name() + " was given an empty value");
  }
  for (const CLI::App* part : app.get_subcommands({})) refuse_empty_values(*part);  // verbs, and groups of options
}

/// Refuses an option in place of the value of another one: `--model -n` would not be a dry run.
void refuse_options_as_values(const CLI::App& app, Words words) {
  for (const CLI::App* verb : app.get_subcommands()) {
    for (std::size_t i = 1; i < words.size(); ++i) {
      const std::string name = words[i - 1], value = words[i];
      const CLI::Option* const option = is_option(value) ? verb->get_option_no_throw(name) : nullptr;
      if (option == nullptr || std::ranges::count(option->results(), value) == 0) continue;
      if (verb->get_option_no_throw(value) == nullptr) continue;
      std::string message = name;
      message.append(" was given the option ").append(value).append(" as its value; `").append(name).append("=");
      throw Error(Code::usage_argument, message.append(value).append("` passes it anyway"));
    }
  }
}

std::string needs(const std::string& verb, const Parameter& missing) {
  std::string help = missing.help.substr(0, missing.help.find(';'));  // what follows is in `--help`
  if (help.starts_with("A ") || help.starts_with("An ") || help.starts_with("The ")) help.front() += 'a' - 'A';
  return "`" + verb + "` needs " + missing.names.back() + ": " + help;
}

/// Returns "`ls` needs ARCHIVE: an archive"; empty if no argument of the verb is missing.
std::string missing_argument(const CLI::App& verb) {
  const VerbDescription described = describe_verb(verb);
  for (const auto* parameters : {&described.arguments, &described.options}) {
    for (const Parameter& parameter : *parameters) {
      if (parameter.required && verb.get_option(parameter.names.back())->count() == 0)
        return needs(described.name, parameter);
    }
  }
  return {};
}

/// Says what is wrong with the arguments of the verb, and where to read on.
[[noreturn]] void refuse_arguments(const CLI::App& app, const CLI::ParseError& error) {
  const auto verbs = app.get_subcommands();
  const CLI::App& asked = verbs.empty() ? app : *verbs.front();
  const std::string command = verbs.empty() ? "onnxar" : asked.get_name();
  const std::string help = "; `onnxar " + (verbs.empty() ? "" : command + " ") + "--help` ";
  if (const std::string option = unknown_option(app); !option.empty()) {
    if (!verbs.empty() && app.get_option_no_throw(option) != nullptr) {
      throw Error(Code::usage_argument, "`" + option + "` goes before the verb: `onnxar " + option + " " + command +
                                            " ...`" + help + "lists the options of the verb");
    }
    throw Error(Code::usage_argument, "`" + command + "` has no option `" + escaped(option) + "`" +
                                          did_you_mean(option, option_names(asked)) + help + "lists them");
  }
  if (const std::string missing = verbs.empty() ? "" : missing_argument(asked); !missing.empty()) {
    throw Error(Code::usage_argument, missing + help + "explains it");
  }
  throw Error(Code::usage_argument, "`" + command + "`: " + escaped(error.what()) + help + "explains it");
}

/// Reads the arguments directly, because errors of CLI11's parser must be printed as JSON, too. The option precedes the
/// verb.
bool wants_json_errors(Words words) {
  const auto verb = std::ranges::find_if_not(words.subspan(1), is_option);
  return std::find(words.begin(), verb, json_errors) != verb;
}

/// Prints one line to stderr. Programs read the last line, because remarks may precede it.
void print_error(const Error& error, bool as_document) {
  if (as_document) {
    std::cerr << text_of(Json{{"error", error}}, -1) << '\n';
  } else {
    std::cerr << "onnxar: " << with_coloured_severity(os::Stream::error, Severity::error, line_of(error)) << '\n';
  }
}

int parse_and_run(Words words) {
  CLI::App app("ONNX archives: one file with a model and its weights, ready to be mapped.", "onnxar");
  app.formatter(help_text());
  app.allow_windows_style_options(false);  // `/models/a.onnx` is a path there, too
  app.set_version_flag("--version", std::string("onnxar ") + ONNXAR_VERSION_STRING);
  bool read_already = false;  // by wants_json_errors
  app.add_flag(std::string(json_errors), read_already, "Print an error as JSON on stderr; before the verb")->group("");
  app.add_flag_callback("--json-progress", print_progress_as_json, "Print progress as JSON on stderr; before the verb")
      ->group("");
  app.require_subcommand(1);
  app.footer(
      "`onnxar VERB --help` describes a verb and gives an example.\n"
      "`onnxar --json-errors VERB ...` prints an error as one line of JSON on stderr, for programs;\n"
      "--json-progress, also before the verb, prints lines of JSON while it works.\n" +
      exit_codes());
  const std::array verbs = {add_pack(app),    add_unpack(app), add_ls(app),         add_check(app), add_repack(app),
                            add_replace(app), add_link(app),   add_recover(app),    add_undo(app),  add_cat(app),
                            add_digest(app),  add_get(app),    add_show(app),       add_dump(app),  add_extract(app),
                            add_diff(app),    add_freeze(app), add_completion(app), add_help(app),  add_man(app)};
  if (words.size() == 1) {
    std::cerr << app.help();
    return exit_code::usage;
  }
  // Before parsing, which would report the same words as a missing verb.
  refuse_unknown_verb(app, words);
  try {
    app.parse(static_cast<int>(words.size()), words.data());
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() != 0) refuse_arguments(app, error);
    return flushed(app.exit(error));  // --help and --version end here
  }
  refuse_empty_values(app);
  refuse_options_as_values(app, words);
  return flushed(run_verb(verbs));
}

/// The only place where errors become messages and exit codes.
int run(Words words) {
  const auto failed = [as_document = wants_json_errors(words)](const Error& error) {
    print_error(error, as_document);
    return exit_code_of(error);
  };
  try {
    return parse_and_run(words);
  } catch (const Error& error) {
    return failed(error);
  } catch (const std::bad_alloc&) {
    return failed(Error(Code::io_failed, "out of memory"));
  } catch (const std::exception& error) {
    // The library throws Error; others come from CLI11, the JSON library or a stream.
    return failed(Error(Code::io_failed, error.what()));
  }
}

}  // namespace
}  // namespace onnxar::tool

int main(int argc, char** argv) {
  const auto words = onnxar::tool::os::start(argc, argv);
  onnxar::tool::end_where_inputs_are_shortened(onnxar::tool::wants_json_errors(words));
  onnxar::tool::os::on_interrupt([] { onnxar::abandon_edits(); });  // restores the archive
  return onnxar::tool::run(words);
}
