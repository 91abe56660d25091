// Loads a model: splits it into a skeleton and payloads.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <vector>

#include "onnxar/options.h"
#include "skeleton/loaded_model.h"
#include "skeleton/policy.h"
#include "source/family_resolver.h"
#include "source/resolver.h"

namespace onnxar {

/// Whether the companions of a model, the further graphs and side files of its archive, are loaded with it.
enum class Companions : std::uint8_t { taken, left };

/// Opens the model at `path` and splits it. The table gets every external payload, every inline payload that `policy`
/// moves, and every large inline payload that saving can put back byte for byte. Reads no payload, except values of
/// typed fields. Errors: as `pack` and `unpack`. Cost: O(fields).
LoadedModel load_model(const std::filesystem::path& path, const ExternalPolicy& policy, const LoadOptions& options,
                       Companions companions = Companions::taken);
/// As above, for a model that is open already.
LoadedModel load_model(std::unique_ptr<Resolver> source, const ExternalPolicy& policy, const LoadOptions& options,
                       Companions companions = Companions::taken);
/// As above, for several models: the first is the model and gets its name, the others are its graphs. REQUIRES:
/// `members` is not empty. Errors: also those of FamilyResolver.
LoadedModel load_family(std::vector<FamilyMember> members, const ExternalPolicy& policy, const LoadOptions& options);
/// Loads all models of a folder as `load_family` does, and its other files as side files, except those that hold data
/// of the models and the one at `output`. Errors: also those of ModelFolder.
LoadedModel load_folder(const std::filesystem::path& folder, const ExternalPolicy& policy, const LoadOptions& options,
                        const std::filesystem::path& output);
/// As `load_model`, for a source whose links may name payloads that `model` already holds. REQUIRES: `model` has an id.
void split_model(LoadedModel& model, std::unique_ptr<Resolver> source, const ExternalPolicy& policy,
                 const LoadOptions& options, Companions companions = Companions::taken);

/// Replaces the skeleton of `model` by `bytes`, a serialised ModelProto with links of this model. Inline payloads that
/// `policy` moves go to the table as views of `bytes`. Links to files stay if LoadOptions::load_external_data is off.
/// Errors: wire.*, onnx.*; onnx.external_data.marker (a link names a payload of a different model), usage.not_loaded (a
/// link leads to a file although external data was to be loaded).
void set_skeleton(LoadedModel& model, std::shared_ptr<const std::vector<std::byte>> bytes, const ExternalPolicy& policy,
                  const LoadOptions& options);

}  // namespace onnxar
