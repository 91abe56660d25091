// The graphs of an archive as a tree of folders, in HTML.
#pragma once

#include <string>
#include <vector>

#include "archive/front_end.h"

namespace onnxar::tool::html {

/// Returns nested lists, in the order of the names; an empty text if there are no graphs.
std::string graph_tree(std::vector<GraphTotals> graphs);

}  // namespace onnxar::tool::html
