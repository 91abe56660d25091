// Holds a model in memory as a skeleton and a table of payloads.
//
// The skeleton is the ModelProto with large payloads replaced by links `#onnxar:<id>:<index>`, where `index` is the
// payload's place in the table. Every source is split into this form, and every output is written from it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "convert/model_source.h"
#include "onnx/sites.h"
#include "onnxar/error.h"
#include "onnxar/options.h"

namespace onnxar {

/// Maps the sites of tensors without data to their places in the input. Their offsets in a skeleton are different.
using PlacesWithoutData = std::map<std::string, Place>;

/// Returns the warning that a tensor of a skeleton has no data; without a place if the tensor got its site after
/// loading.
Finding no_data(const onnx::TensorSite& site, const PlacesWithoutData& places);

/// Holds a graph other than the model: a skeleton with links into the payload table of the model.
struct LoadedGraph {
  std::string name;  ///< name of the entry: `decoder.onnx`
  std::vector<std::byte> skeleton;
  PlacesWithoutData without_data = {};
};

struct LoadedModel {
  std::shared_ptr<ModelSource> source;  ///< keeps alive what payloads view; null for a model made in memory
  std::vector<std::shared_ptr<ModelSource>> further_sources;  ///< sources of models that became graphs of this one
  std::uint64_t id = 0;                                       ///< appears in the skeleton's links
  std::uint64_t input_size = 0;  ///< bytes of the files that it was loaded from; 0 if it was made in memory
  std::uint64_t max_expansion = default_expansion;  ///< LoadOptions::max_expansion; see Expansion
  std::vector<std::byte> skeleton;
  PlacesWithoutData without_data = {};
  std::vector<Payload> payloads;    ///< by index in the links; a released payload has a null source
  std::vector<LoadedGraph> graphs;  ///< further graphs of an archive; their payloads are in the same table
  std::vector<SideFile> side_files;
  std::vector<std::string> left_out;  ///< names of entries that no tensor names and that are not side files
  std::uint64_t left_out_bytes = 0;
  bool is_family = false;            ///< loaded from several models, whose equal data an archive holds once
  std::vector<std::string> given;    ///< file names of the graphs that the caller named, which no added file replaces
  std::uint64_t typed_made_raw = 0;  ///< number of payloads that were in typed fields
  std::uint64_t reencoded = 0;       ///< number of payloads of raw_data whose encoding is not restored
  std::vector<Finding> remarks;

  /// The folder that links to files are relative to, if LoadOptions::load_external_data was off; otherwise empty.
  std::filesystem::path data_folder;

  /// Returns the payload that the tensor's link names; null if its data is inline, or in a file.
  [[nodiscard]] const Payload* payload_of(const onnx::TensorSite& site) const;
  /// Returns the payload that a location names; null if it does not name a payload of this model.
  [[nodiscard]] const Payload* payload_at(std::string_view location) const;
};

/// Returns a note for the report on saving that names the omitted entries; nothing if there are none.
std::optional<Finding> note_of_left_out(const LoadedModel& model);

/// Returns a random number of 19 digits, which distinguishes the links of one model from the links of another.
std::uint64_t new_model_id();

}  // namespace onnxar
