// Opens models that will be written into an existing archive.
#pragma once

#include <filesystem>
#include <memory>

#include "convert/model_source.h"
#include "convert/open.h"
#include "onnxar/archive.h"
#include "onnxar/bytes.h"
#include "onnxar/options.h"

namespace onnxar {

/// Opens a model that will be written into `target`. Links of a model that is an archive lead to its own entries.
/// Throws what `open_source` throws.
std::unique_ptr<ModelSource> open_source_for(const Archive& target, const std::filesystem::path& path,
                                             FileLinks file_links, const LoadOptions& options);
/// Does what `open_source_for` does for a serialised ModelProto. Its data files are in `options.external_data_dir`.
std::unique_ptr<ModelSource> source_for(const Archive& target, Bytes model, FileLinks file_links,
                                        const LoadOptions& options);

}  // namespace onnxar
