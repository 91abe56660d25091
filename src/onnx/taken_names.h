// Finds the initializers of the main graph that nodes take, as a runtime sees it.
#pragma once

#include <string_view>

#include "base/keyed_hash.h"
#include "onnx/sites.h"
#include "onnxar/bytes.h"

namespace onnxar::onnx {

/// Returns the names that nodes of the main graph take, and those that nodes of its subgraphs take unless a subgraph
/// defines them, too. Throws what `walk_graphs` throws. Cost: O(fields).
base::KeyedSet<std::string_view> taken_names(Bytes model);

}  // namespace onnxar::onnx
