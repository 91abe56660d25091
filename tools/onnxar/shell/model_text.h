// Models as text, which need protobuf: a folder of verbs/ defines these for builds with it, and one without.
#pragma once

#include <filesystem>

#include "onnxar/convert.h"
#include "onnxar/options.h"

namespace onnxar::tool {

/// Returns LoadOptions with a parser for text, and with `address_opener` (addresses.h).
LoadOptions load_options();

ConvertReport write_text(const std::filesystem::path& input, const std::filesystem::path& output,
                         const SaveOptions& save, const LoadOptions& load);

}  // namespace onnxar::tool
