// A file as a picture: its bytes in rows, to scale.
#pragma once

#include <string>

#include "onnxar/model/inspect.h"

namespace onnxar::tool::html {

/// An `<svg>` with a `<rect>` for each row that a block covers, and a legend below it.
std::string file_map(const FileMap& map);

}  // namespace onnxar::tool::html
