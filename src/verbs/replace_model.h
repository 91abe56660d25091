// Replaces the model of an archive by one that is being loaded: for `replace` and ModelWriter::replace.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>

#include "onnxar/archive.h"
#include "onnxar/convert.h"
#include "onnxar/options.h"
#include "skeleton/loaded_model.h"
#include "source/resolver.h"
#include "source/target_resolver.h"

namespace onnxar {

/// Makes the resolver of the new model. It needs the archive, as the model may name entries of it.
using OpenModel = std::function<std::unique_ptr<Resolver>(const Archive& archive)>;

/// `model` has an id and the payloads that links of the new model may name; the rest of it is loaded from the resolver.
/// Errors and cost: as `replace` (onnxar/convert.h).
ReplaceReport replace_model_of(const std::filesystem::path& path, LoadedModel model, const OpenModel& open_model,
                               const ReplaceOptions& options, const LoadOptions& load);

/// Whether links of the new model may lead to files.
FileLinks file_links(const ReplaceOptions& options);

}  // namespace onnxar
