// Prints an inspection as text.
#pragma once

#include <string>

#include "inspect/inspection.h"

namespace onnxar::tool {

/// Prints the summary: one or a few lines for each part.
void print_inspection(const Inspection& inspection, const std::string& path);
/// Prints one line per node. Nodes of subgraphs are indented; those of functions follow the function's name.
void print_nodes(const Inspection& inspection);

}  // namespace onnxar::tool
