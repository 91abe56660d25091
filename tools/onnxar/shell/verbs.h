// Declares the verbs of the command line, which add themselves to the parser.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>

namespace onnxar::tool {

/// Runs a verb, and returns the exit code.
using Action = std::function<int()>;
/// A verb on the command line.
struct Verb {
  CLI::App* app;
  Action run;
};

Verb add_pack(CLI::App& app);
Verb add_unpack(CLI::App& app);
Verb add_ls(CLI::App& app);
Verb add_check(CLI::App& app);
Verb add_cat(CLI::App& app);
Verb add_digest(CLI::App& app);
Verb add_repack(CLI::App& app);
Verb add_replace(CLI::App& app);
Verb add_link(CLI::App& app);
Verb add_recover(CLI::App& app);
Verb add_undo(CLI::App& app);
Verb add_extract(CLI::App& app);
Verb add_get(CLI::App& app);
Verb add_completion(CLI::App& app);
Verb add_help(CLI::App& app);
Verb add_man(CLI::App& app);

// Verbs that need protobuf. A tool without onnxar::model has the refusals of the folder without_model instead.
Verb add_show(CLI::App& app);
Verb add_dump(CLI::App& app);
Verb add_diff(CLI::App& app);
Verb add_freeze(CLI::App& app);

}  // namespace onnxar::tool
