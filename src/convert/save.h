// Writes a loaded model as an archive or as plain ONNX.
#pragma once

#include <filesystem>

#include "convert/companions.h"
#include "convert/loaded_model.h"
#include "convert/publish.h"
#include "onnxar/convert.h"
#include "onnxar/options.h"

namespace onnxar {

/// Writes `model` to `output` in `options.format`. In a folder, its file is named after `input`. Errors: as `pack`
/// and `unpack`.
ConvertReport save_model(const LoadedModel& model, const std::filesystem::path& output, const SaveOptions& options,
                         const std::filesystem::path& input = {});

/// Writes `model` to an archive, with the side files and graphs of `companions` instead of the model's own. Errors: as
/// `pack`.
void save_archive(const LoadedModel& model, const ArchiveCompanions& companions, const std::filesystem::path& output,
                  const SaveOptions& options, ConvertReport& report);
/// Writes `model` as plain ONNX; its side files and graphs are written only if the destination is a
/// folder. Errors: as `unpack`.
void save_onnx(const LoadedModel& model, const Destination& destination, const SaveOptions& options,
               ConvertReport& report);

/// Writes `bytes`, a form of the model with all data inside, such as text. If the destination is a folder, the side
/// files and graphs of `model` are written too.
void save_alone(const ByteSource& bytes, const LoadedModel& model, const Destination& destination,
                const SaveOptions& options, ConvertReport& report);

/// The path whose stem names the model's file in a folder: the model's name among several graphs, else `input`.
std::filesystem::path name_in_folder(const LoadedModel& model, const std::filesystem::path& input);

}  // namespace onnxar
