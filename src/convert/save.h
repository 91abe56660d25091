// Writes a loaded model as an archive or as plain ONNX, with its companions: side files, other graphs and their
// weights.
#pragma once

#include <filesystem>

#include "convert/companions.h"
#include "convert/loaded_model.h"
#include "onnxar/convert.h"
#include "onnxar/options.h"

namespace onnxar {

/// Writes `model` to `output` in `options.format`. In a folder, its file is named after `input`. Throws what `pack` and
/// `unpack` throw.
ConvertReport save_model(const LoadedModel& model, const std::filesystem::path& output, const SaveOptions& options,
                         const std::filesystem::path& input = {});

/// Writes `model` to an archive, with the side files and graphs of `companions` instead of the model's own. Throws what
/// `pack` throws.
void save_archive(const LoadedModel& model, const ArchiveCompanions& companions, const std::filesystem::path& output,
                  const SaveOptions& options, ConvertReport& report);

/// Returns the path whose stem names the model's file in a folder: the model's name among several graphs, else the file
/// name of `path`, or `model` if a graph or side file has that name.
std::filesystem::path name_in_folder(const LoadedModel& model, const std::filesystem::path& path);

}  // namespace onnxar
