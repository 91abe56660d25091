// Opens models that go into an existing archive.
#pragma once

#include <filesystem>
#include <memory>

#include "convert/model_source.h"
#include "convert/open.h"
#include "onnxar/archive.h"
#include "onnxar/bytes.h"
#include "onnxar/options.h"

namespace onnxar {

/// Opens a model that goes into `target`, which must outlive the source. Links of a model that
/// is an archive lead to its own entries. Errors: as `open_source`.
std::unique_ptr<ModelSource> open_source_for(const Archive& target, const std::filesystem::path& path,
                                             FileLinks file_links, const LoadOptions& options);
/// As `open_source_for`, for a serialised ModelProto; its data files are in `options.external_data_dir`.
std::unique_ptr<ModelSource> source_for(const Archive& target, Bytes model, FileLinks file_links,
                                        const LoadOptions& options);

}  // namespace onnxar
