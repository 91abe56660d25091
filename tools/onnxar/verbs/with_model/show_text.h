// Prints an inspection as text, and converts it to JSON.
#pragma once

#include "inspect/inspection.h"
#include "shell/json.h"

namespace onnxar::tool {

/// Prints the summary: one or a few lines for each part.
void print_inspection(const Inspection& inspection, const std::string& path);
/// Prints one line per node. Nodes of subgraphs are indented; those of functions follow the function's name.
void print_nodes(const Inspection& inspection);
/// Returns the document of `show --json`, with `nodes` if `with_nodes`.
Json inspection_as_json(const Inspection& inspection, const std::string& path, bool with_nodes);

}  // namespace onnxar::tool
