// What each graph of an archive has, as text.
#pragma once

#include <string>

#include "archive/front_end.h"

namespace onnxar::tool {

/// Returns `1,234 parameters, weights 12.0 kB (4.0 kB of them shared), model 1.2 kB`.
std::string numbers_of(const GraphTotals& graph);

/// Returns `unet/model: ` and its numbers. Control characters are escaped.
std::string text_of(const GraphTotals& graph);

}  // namespace onnxar::tool
