// Writing a loaded model.
#pragma once

#include <filesystem>
#include <vector>

#include "convert/loaded_model.h"
#include "onnxar/convert.h"
#include "onnxar/options.h"

namespace onnxar {

/// Writes `model` to `output` in the form that `options` asks for. Errors: as `convert`.
ConvertReport save_model(const LoadedModel& model, const std::filesystem::path& output, const SaveOptions& options);

/// Each writes `model` with these side files, which stand for its own, to `output` in one form and adds to the report
/// what it did. Errors: as `convert`.
void save_archive(const LoadedModel& model, const std::vector<SideFile>& side_files,
                  const std::filesystem::path& output, const SaveOptions& options, ConvertReport& report);
void save_plain(const LoadedModel& model, const std::vector<SideFile>& side_files, const std::filesystem::path& output,
                const SaveOptions& options, ConvertReport& report);

/// Writes `bytes`, a model that is complete in itself in whatever form, and the side files beside it.
void save_alone(const ByteSource& bytes, const std::vector<SideFile>& side_files, const std::filesystem::path& output,
                const SaveOptions& options, ConvertReport& report);

}  // namespace onnxar
