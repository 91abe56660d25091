// Loads models, and splits them into skeletons and payloads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "convert/loaded_model.h"
#include "convert/model_source.h"
#include "onnxar/options.h"

namespace onnxar {

/// Whether the companions of a model, the further graphs and side files of its archive, are loaded with it.
enum class Companions : std::uint8_t { taken, left };

/// Opens the model at `path` and splits it. The table gets every external payload, every inline payload that `policy`
/// moves, and every large inline payload that saving can put back byte for byte. Reads no payload, except values of
/// typed fields. Errors: as `pack` and `unpack`. Cost: O(fields).
LoadedModel load_model(const std::filesystem::path& path, const ExternalPolicy& policy, const LoadOptions& options,
                       Companions companions = Companions::taken);
/// As above, for a model that is open already.
LoadedModel load_model(std::unique_ptr<ModelSource> source, const ExternalPolicy& policy, const LoadOptions& options,
                       Companions companions = Companions::taken);

/// One of several models: its name among the graphs, without `.onnx`, and its source.
struct FamilyMember {
  std::string name;
  std::unique_ptr<ModelSource> source;
};
/// Refuses names that the graphs of one archive cannot have, also of the graphs of members that are archives. Errors:
/// usage.argument (two have one name apart from ASCII case, or no graph can have the name).
void check_family_names(const std::vector<FamilyMember>& members);

/// As `load_model`, for several models: the first is the model and gets its name. The others are its graphs, and so are
/// the graphs of members that are archives. Their names are not checked. REQUIRES: `members` is not empty. Errors: also
/// usage.argument (two members have different side files of one name).
LoadedModel load_family(std::vector<FamilyMember> members, const ExternalPolicy& policy, const LoadOptions& options);

/// As `load_model`, for a source whose links may name payloads that `model` already holds. REQUIRES: `model` has an id.
void split_model(LoadedModel& model, std::unique_ptr<ModelSource> source, const ExternalPolicy& policy,
                 const LoadOptions& options, Companions companions = Companions::taken);

/// Replaces the skeleton of `model` by `bytes`, a serialised ModelProto with links of this model. Inline payloads that
/// `policy` moves go to the table as views of `bytes`. Links to files stay if LoadOptions::load_external_data is off.
/// Errors: wire.*, onnx.*; onnx.external_data.marker (a link names a payload of a different model), usage.not_loaded (a
/// link leads to a file although external data was to be loaded).
void set_skeleton(LoadedModel& model, const std::shared_ptr<const std::vector<std::byte>>& bytes,
                  const ExternalPolicy& policy, const LoadOptions& options);

}  // namespace onnxar
