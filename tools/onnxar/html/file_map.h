// Draws a file's bytes in rows, to scale.
#pragma once

#include <string>

#include "inspect/inspection.h"

namespace onnxar::tool::html {

/// Returns an `<svg>` with a `<rect>` for each row that a block covers, and a legend below it.
std::string file_map(const FileMap& map);

}  // namespace onnxar::tool::html
