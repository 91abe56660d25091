// Passes findings of the library to Python.
#pragma once

#include <vector>

#include "binding.h"
#include "onnxar/error.h"

namespace onnxar::python {

/// Returns tuples (severity, code, entry, offset, message).
nb::list findings(const std::vector<Finding>& findings);

}  // namespace onnxar::python
