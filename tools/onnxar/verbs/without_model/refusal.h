// Refuses verbs and options that need protobuf.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "shell/verbs.h"

namespace onnxar::tool {

/// Throws `usage.argument`, which says that `what` needs protobuf.
[[noreturn]] void refuse_without_protobuf(const std::string& what);

/// Adds a verb that does nothing but throw that error.
Verb add_refused(CLI::App& app, const std::string& name);

}  // namespace onnxar::tool
