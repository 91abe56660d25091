// An inspection in words, and as JSON.
#pragma once

#include "onnxar/model/inspect.h"
#include "shell/json.h"

namespace onnxar::tool {

/// Prints the summary: a line or a small table for each part.
void print_inspection(const Inspection& inspection, const std::string& path);
/// Prints one line per node. Nodes of subgraphs are indented; those of functions follow the function's name.
void print_nodes(const Inspection& inspection);
Json inspection_as_json(const Inspection& inspection, const std::string& path, bool with_nodes);

}  // namespace onnxar::tool
