// Finds verbs and options by their names.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace onnxar::tool {

/// Returns the verb of this name. Errors: usage.argument, with the nearest name.
const CLI::App& expect_verb(const CLI::App& app, const std::string& name);
/// Returns the names of all options of a verb, also of those in groups.
std::vector<std::string> option_names(const CLI::App& verb);

}  // namespace onnxar::tool
