// Writes models as text.
#pragma once

#include <filesystem>

#include "convert/loaded_model.h"
#include "onnxar/convert.h"
#include "onnxar/options.h"

namespace onnxar {

/// Writes `model` as a text file. If `output` is a folder, the file is named after `input`. Throws what `unpack`
/// throws.
ConvertReport save_text(const LoadedModel& model, const std::filesystem::path& output, const SaveOptions& options,
                        const std::filesystem::path& input = {});

}  // namespace onnxar
