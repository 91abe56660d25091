// Converts an inspection to JSON.
#pragma once

#include <string>

#include "inspect/inspection.h"
#include "shell/json.h"

namespace onnxar::tool {

/// Returns the document of `show --json`, with `nodes` if `with_nodes`.
Json inspection_as_json(const Inspection& inspection, const std::string& path, bool with_nodes);

}  // namespace onnxar::tool
