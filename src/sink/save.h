// Writing a loaded model.
#pragma once

#include <filesystem>

#include "onnxar/convert.h"
#include "onnxar/options.h"
#include "sink/destination.h"
#include "sink/side_files.h"
#include "skeleton/loaded_model.h"

namespace onnxar {

/// Writes `model` to `output` in the form that `options` asks for; in a folder it is named by `input`. Errors: as
/// `convert`.
ConvertReport save_model(const LoadedModel& model, const std::filesystem::path& output, const SaveOptions& options,
                         const std::filesystem::path& input = {});

/// Writes `model` to an archive, with these side files and graphs in the place of the model's own. Errors: as
/// `convert`.
void save_archive(const LoadedModel& model, const Kept& kept, const std::filesystem::path& output,
                  const SaveOptions& options, ConvertReport& report);
/// Writes `model` as plain ONNX; a folder takes its side files and graphs, a file none. Errors: as `convert`.
void save_onnx(const LoadedModel& model, const Destination& destination, const SaveOptions& options,
               ConvertReport& report);

/// Writes `bytes`, the model in a form that is complete in itself, with what goes along with `model` where there is a
/// folder for that.
void save_alone(const ByteSource& bytes, const LoadedModel& model, const Destination& destination,
                const SaveOptions& options, ConvertReport& report);

/// `input` with the name that the model has among several graphs, if it has one: what names the model in a folder.
std::filesystem::path name_in_folder(const LoadedModel& model, const std::filesystem::path& input);

}  // namespace onnxar
