// Makes an archive of a zip file, with the help of a reader of models.
#pragma once

#include <filesystem>

#include "archive/model_reading.h"
#include "onnxar/edit.h"

namespace onnxar {

/// As `repack` (edit.h).
RepackReport repack_zip(const std::filesystem::path& input, const std::filesystem::path& output,
                        const RepackOptions& options, const ModelReading& reading);

}  // namespace onnxar
