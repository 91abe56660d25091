// Replaces the model of an archive by one that is being loaded: for `replace` and ModelWriter::replace.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>

#include "convert/load.h"
#include "convert/model_source.h"
#include "convert/open.h"
#include "onnxar/convert.h"
#include "onnxar/options.h"

namespace onnxar {

/// The tensors that become entries if they have at least `threshold` bytes.
ExternalPolicy replace_policy(std::uint64_t threshold, const ReplaceOptions& options);

/// Makes the source of the new model. It needs the archive, as the model may name entries of it.
using OpenModel = std::function<std::unique_ptr<ModelSource>(const Archive& archive)>;

/// `model` has an id and the payloads that links of the new model may name; the rest of it is loaded from the source.
/// Errors and cost: as `replace` (onnxar/convert.h).
ReplaceReport replace_model_of(const std::filesystem::path& path, LoadedModel model, const OpenModel& open_model,
                               const ReplaceOptions& options, const LoadOptions& load);

/// Whether links of the new model may lead to files.
FileLinks file_links(const ReplaceOptions& options);

}  // namespace onnxar
