// Makes an archive from a zip file. The caller supplies the functions that read models.
#pragma once

#include <filesystem>

#include "archive/repack_plan.h"
#include "onnxar/edit.h"

namespace onnxar {

/// Implements `repack` (edit.h).
RepackReport repack_zip(const std::filesystem::path& input, const std::filesystem::path& output,
                        const RepackOptions& options, const ModelReading& reading);

}  // namespace onnxar
