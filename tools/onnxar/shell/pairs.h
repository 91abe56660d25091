// Options that take LEFT=RIGHT.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace onnxar::tool {

/// Splits `text` at the first `=`. Throws usage.argument, whose message begins with `wanted`: "--add wants NAME=FILE".
std::pair<std::string, std::string> pair_of(const std::string& text, const std::string& wanted);

CLI::Option* add_files(CLI::App& verb, std::vector<std::string>& files, const std::string& description);
/// Parses a value of that option. Throws usage.argument.
AddedFile added_file(const std::string& text);

CLI::Option* add_rename(CLI::App& verb, std::vector<std::string>& rename);
std::vector<RenamedEntry> renamed_entries(const std::vector<std::string>& rename);

/// Adds `--variant`, whose values `graph_variants` parses.
CLI::Option* add_variants(CLI::App& verb, std::vector<std::string>& variants);
/// Parses values such as `int8=cuda:gpu`. Throws usage.argument.
std::vector<GraphVariant> graph_variants(const std::vector<std::string>& variants);

}  // namespace onnxar::tool
