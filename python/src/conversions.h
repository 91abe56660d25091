// Options and reports of saving, for files and for models in memory.
#pragma once

#include "binding.h"
#include "onnxar/convert.h"
#include "onnxar/options.h"

namespace onnxar::python {

/// Returns options that also check for Ctrl-C whenever progress is reported.
SaveOptions interruptible(SaveOptions options);

nb::dict converted(const ConvertReport& report);

}  // namespace onnxar::python
