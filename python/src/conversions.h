// Options and reports of saving, as both files and models in memory have them.
#pragma once

#include "binding.h"
#include "onnxar/convert.h"
#include "onnxar/options.h"

namespace onnxar::python {

/// The options, with Ctrl-C looked for wherever progress is reported.
SaveOptions interruptible(SaveOptions options);

nb::dict converted(const ConvertReport& report);

}  // namespace onnxar::python
