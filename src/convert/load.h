// Loads models, and splits them into skeletons and payloads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "convert/external_policy.h"
#include "convert/loaded_model.h"
#include "convert/model_source.h"
#include "onnxar/options.h"

namespace onnxar {

/// States if the companions of a model (the other graphs and side files of its archive) are loaded with it.
enum class Companions : std::uint8_t { taken, left };

/// Opens the model at `path` and splits it. Puts into the table every external payload, every inline payload that
/// `policy` moves, and every large inline payload that saving can restore byte for byte. Reads no payload, except
/// values of typed fields. Throws what `pack` and `unpack` throw. Cost: O(fields).
LoadedModel load_model(const std::filesystem::path& path, const ExternalPolicy& policy, const LoadOptions& options,
                       Companions companions = Companions::taken);
/// Does the same for an open model.
LoadedModel load_model(std::unique_ptr<ModelSource> source, const ExternalPolicy& policy, const LoadOptions& options,
                       Companions companions = Companions::taken);

/// Describes one of several models: its name among the graphs, without `.onnx`, and its source.
struct FamilyMember {
  std::string name;
  std::unique_ptr<ModelSource> source;
};
/// Refuses names that the graphs of one archive cannot have. Includes the graphs of members that are archives. Throws
/// usage.argument if two names are equal, ignoring ASCII case, or if a name is not valid for a graph.
void check_family_names(const std::vector<FamilyMember>& members);

/// Loads several models as `load_model` does. The first becomes the model and gets its name. The others become its
/// graphs, and so do the graphs of members that are archives. Does not check their names. REQUIRES: `members` is not
/// empty. Throws what `load_model` throws, and usage.argument if two members have different side files of the same
/// name.
LoadedModel load_family(std::vector<FamilyMember> members, const ExternalPolicy& policy, const LoadOptions& options);

/// Does what `load_model` does for a source whose links may name payloads that `model` already has. REQUIRES: `model`
/// has an id.
void split_model(LoadedModel& model, std::unique_ptr<ModelSource> source, const ExternalPolicy& policy,
                 const LoadOptions& options, Companions companions = Companions::taken);

/// Replaces the skeleton of `model` by `bytes`, a serialised ModelProto with links of this model. Inline payloads that
/// `policy` moves go to the table as views of `bytes`. Links to files stay if LoadOptions::load_external_data is off.
/// Throws wire.*, onnx.*, onnx.external_data.marker if a link names a payload of a different model, and
/// usage.not_loaded if a link leads to a file although LoadOptions::load_external_data is on.
void set_skeleton(LoadedModel& model, const std::shared_ptr<const std::vector<std::byte>>& bytes,
                  const ExternalPolicy& policy, const LoadOptions& options);

}  // namespace onnxar
