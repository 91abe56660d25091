// Writing a loaded model.
#pragma once

#include <filesystem>
#include <vector>

#include "convert/destination.h"
#include "convert/loaded_model.h"
#include "onnxar/convert.h"
#include "onnxar/options.h"

namespace onnxar {

/// Writes `model` to `output` in the form that `options` asks for; in a folder it is named by `input`. Errors: as
/// `convert`.
ConvertReport save_model(const LoadedModel& model, const std::filesystem::path& output, const SaveOptions& options,
                         const std::filesystem::path& input = {});

/// Each writes `model` to one form and adds to the report what it did. An archive takes these side files, which stand
/// for the model's own; a folder takes those of the model, a file none. Errors: as `convert`.
void save_archive(const LoadedModel& model, const std::vector<SideFile>& side_files,
                  const std::filesystem::path& output, const SaveOptions& options, ConvertReport& report);
void save_plain(const LoadedModel& model, const Destination& destination, const SaveOptions& options,
                ConvertReport& report);

/// Writes `bytes`, a model that is complete in itself in whatever form, with the side files where there is a folder for
/// them.
void save_alone(const ByteSource& bytes, const std::vector<SideFile>& side_files, const Destination& destination,
                const SaveOptions& options, ConvertReport& report);

}  // namespace onnxar
