// Opens zip files and folders of other programs.
#pragma once

#include <filesystem>
#include <memory>

#include "archive/opened_input.h"
#include "convert/model_source.h"
#include "onnxar/options.h"

namespace onnxar {

/// Opens a zip file that is not an archive. Links lead to entries in the model's folder of the zip. Throws io.*, zip.*
/// and archive.model.missing, and wire.* and onnx.* for a model that PyTorch wrote.
std::unique_ptr<ModelSource> open_foreign_zip(const OpenedInput& input, const LoadOptions& options);

/// Opens a folder that PyTorch's older exporter wrote: each tensor's data is a file with the tensor's name, and
/// stand-ins in the model, which is at `model`, become links to these files. Throws io.*, and wire.* and onnx.* of the
/// model.
std::unique_ptr<ModelSource> open_foreign_folder(const std::filesystem::path& model, const LoadOptions& options);

}  // namespace onnxar
