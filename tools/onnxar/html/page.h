// The page that `show --html` writes.
#pragma once

#include <string>

#include "onnxar/model/inspect.h"

namespace onnxar::tool::html {

/// The inspection, made with `files`, as one page that needs no other file: summary, operators, tensors, and a map of
/// each file to scale. It has no scripts, and a light and a dark style. Names are escaped. `title` names the model.
std::string page(const Inspection& inspection, const std::string& title);

}  // namespace onnxar::tool::html
