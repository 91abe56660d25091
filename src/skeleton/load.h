// Loading: a model becomes a skeleton and payloads.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <vector>

#include "onnxar/options.h"
#include "skeleton/loaded_model.h"
#include "skeleton/policy.h"
#include "source/resolver.h"

namespace onnxar {

/// Whether the further graphs of an archive, and its side files, are loaded with the model.
enum class Companions : std::uint8_t { taken, left };

/// Opens the model at `path` and splits it: every external payload, every inline one that `policy` moves, and large
/// ones that can be put back as they were go to the table. No payload byte is touched, except values of
/// typed fields. Errors: as `convert`. Cost: O(fields).
LoadedModel load_model(const std::filesystem::path& path, const ExternalPolicy& policy, const LoadOptions& options,
                       Companions companions = Companions::taken);
/// As above, for a model that is open already.
LoadedModel load_model(std::unique_ptr<Resolver> source, const ExternalPolicy& policy, const LoadOptions& options,
                       Companions companions = Companions::taken);
/// As above, for a source in which some links name payloads that `model`, which has an id, holds already.
void split_model(LoadedModel& model, std::unique_ptr<Resolver> source, const ExternalPolicy& policy,
                 const LoadOptions& options, Companions companions = Companions::taken);

/// Makes `bytes`, a serialised ModelProto whose links are of `model`, its skeleton; inline payloads that `policy` moves
/// go to the table, as views of `bytes`. Links to files stay if `options` let loading leave them alone. Errors: wire.*,
/// onnx.*; onnx.external_data.marker where a link names the payload of another model, usage.not_loaded where it leads
/// to a file and may not.
void set_skeleton(LoadedModel& model, std::shared_ptr<const std::vector<std::byte>> bytes, const ExternalPolicy& policy,
                  const LoadOptions& options);

}  // namespace onnxar
