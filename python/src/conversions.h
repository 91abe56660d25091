// Options and reports of saving, for files and for models in memory.
#pragma once

#include <string>
#include <vector>

#include "binding.h"
#include "onnxar/convert.h"
#include "onnxar/options.h"

namespace onnxar::python {

/// Returns options that also check for Ctrl-C whenever progress is reported.
SaveOptions interruptible(SaveOptions options);

ProgressCallback interruptible(ProgressCallback report);

/// Options of a replacement, without those that are not in `save`.
ReplaceOptions replace_options(const SaveOptions& save, const std::vector<std::string>& remove, bool append_external,
                               const Archive* prepared_from, const std::string& graph = {});

nb::dict as_dict(const ReplaceReport& report);
nb::dict converted(const ConvertReport& report);

}  // namespace onnxar::python
