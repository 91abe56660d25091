// Replaces the model of an archive by a newly loaded one, for `replace` and ModelWriter::replace.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>

#include "convert/external_policy.h"
#include "convert/load.h"
#include "convert/model_source.h"
#include "convert/open.h"
#include "onnxar/convert.h"
#include "onnxar/options.h"

namespace onnxar {

/// Returns the policy that makes tensors of at least `threshold` bytes entries.
ExternalPolicy replace_policy(std::uint64_t threshold, const ReplaceOptions& options);

/// Makes the source of the new model. It needs the archive, because the model may name entries of it.
using OpenModel = std::function<std::unique_ptr<ModelSource>(const Archive& archive)>;

/// Replaces the model. `model` must have an id and the payloads that links of the new model may name; the rest of it is
/// loaded from the source. Throws what `replace` (onnxar/convert.h) throws, at the same cost.
ReplaceReport replace_model_of(const std::filesystem::path& path, LoadedModel model, const OpenModel& open_model,
                               const ReplaceOptions& options, const LoadOptions& load);

/// Returns FileLinks::allowed if links of the new model may lead to files.
FileLinks file_links(const ReplaceOptions& options);

}  // namespace onnxar
