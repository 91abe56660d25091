// Options that take LEFT=RIGHT.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "shell/command.h"

namespace onnxar::tool {

/// The text before the first `=` and the one after it. Errors: usage.argument, in which the option is described as
/// `wanted`: "--add wants NAME=FILE".
std::pair<std::string, std::string> pair_of(const std::string& text, const std::string& wanted);

CLI::Option* add_files(CLI::App& verb, std::vector<std::string>& files, const std::string& description);
/// A value of that option. Errors: usage.argument.
AddedFile added_file(const std::string& text);

CLI::Option* add_rename(CLI::App& verb, std::vector<std::string>& rename);
std::vector<RenamedEntry> renamed_entries(const std::vector<std::string>& rename);

}  // namespace onnxar::tool
