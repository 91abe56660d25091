// The page that `show --html` writes.
#pragma once

#include <string>

#include "inspect/inspection.h"

namespace onnxar::tool::html {

/// Returns a self-contained page: summary, operators, tensors, and a map of each file to scale. It has a light and a
/// dark style, but no scripts. Names are escaped. `inspection` was made with `files`; `title` names the model.
std::string page(const Inspection& inspection, const std::string& title);

}  // namespace onnxar::tool::html
