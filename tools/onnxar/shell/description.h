// Describes the command line as data. The description is read from CLI11's tree, which also parses the arguments.
// `--help`, completions and the manual page are made from it alone, so they cannot disagree with the parser.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace onnxar::tool {

/// The kind of completions for a value.
enum class ValueKind : std::uint8_t {
  none,  ///< a flag, which takes no value
  any,   ///< not completed: a number, a name
  file,
  folder,
  choice,  ///< one of a few words
};

/// An option, or a positional argument.
struct Parameter {
  std::vector<std::string> names;  ///< `-o`, `--output`; one name for an argument, `MODEL`
  std::string value;               ///< as `--help` shows it: `FILE`, `sha1`
  ValueKind kind = ValueKind::any;
  std::vector<std::string> choices;
  std::string help;
  std::string preset;  ///< the default value; empty if none is shown
  bool required = false;
  bool repeatable = false;
};

struct VerbDescription {
  std::string name;
  std::string help;     ///< a sentence without the full stop
  std::string notes;    ///< further remarks
  std::string example;  ///< a command
  std::vector<Parameter> arguments;
  std::vector<Parameter> options;
};

struct CommandLine {
  std::string about;
  std::vector<Parameter> options;  ///< global ones, before the verb
  std::vector<VerbDescription> verbs;
};

/// Describes the command; omits verbs and options without a group.
CommandLine describe(const CLI::App& app);
VerbDescription describe_verb(const CLI::App& app);

/// Prints `--help` of the command and of its verbs.
std::shared_ptr<CLI::FormatterBase> help_text();

/// Returns all names of all options.
std::vector<std::string> names_of(const std::vector<Parameter>& options);

/// Returns `text` with each `from` replaced.
std::string replaced(std::string text, std::string_view from, std::string_view to);

std::string bash_completion(const CommandLine& line);
std::string zsh_completion(const CommandLine& line);
std::string fish_completion(const CommandLine& line);
/// Returns roff with the macros of man(7).
std::string manual_page(const CommandLine& line);

}  // namespace onnxar::tool
