// The command line as data. It is read from the tree that parses the arguments and prints `--help`; completions and the
// manual page are made from it alone.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace onnxar::tool {

/// What completions offer for a value.
enum class ValueKind : std::uint8_t {
  none,  ///< a flag, which takes no value
  any,   ///< not completed: a number, a name
  file,
  folder,
  choice,  ///< one of a few words
};

/// An option, or an argument, which is identified by its position.
struct Parameter {
  std::vector<std::string> names;  ///< `-o`, `--output`; of an argument one, `MODEL`
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
  std::string help;     ///< a sentence without its full stop
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

/// Leaves out verbs and options without a group, which `--help` does not list either.
CommandLine describe(const CLI::App& app);

/// Every name of every option.
std::vector<std::string> names_of(const std::vector<Parameter>& options);

/// `text` with each `from` replaced.
std::string replaced(std::string text, std::string_view from, std::string_view to);

std::string bash_completion(const CommandLine& line);
std::string zsh_completion(const CommandLine& line);
std::string fish_completion(const CommandLine& line);
/// In roff, with the macros of man(7).
std::string manual_page(const CommandLine& line);

}  // namespace onnxar::tool
