// An inspection in words, and as JSON.
#pragma once

#include "onnxar/model/inspect.h"
#include "shell/json.h"

namespace onnxar::tool {

/// The summary, a line or a small table each.
void print_inspection(const Inspection& inspection, const std::string& path);
/// A line a node; those of subgraphs are indented, those of functions stand below their function's name.
void print_nodes(const Inspection& inspection);
Json inspection_as_json(const Inspection& inspection, const std::string& path, bool with_nodes);

}  // namespace onnxar::tool
