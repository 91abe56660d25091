// A model in memory: a skeleton and a table of payloads.
//
// The skeleton is the ModelProto with large payloads replaced by links `#onnxar:<id>:<index>`, where `index` is the
// payload's place in the table. Every source is split into this form, and every target is written from it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "onnxar/bytes.h"
#include "onnxar/error.h"
#include "onnxar/options.h"
#include "skeleton/policy.h"
#include "source/payload.h"
#include "source/resolver.h"

namespace onnxar {

/// The places in the input of tensors without data. Their offsets in a skeleton are different ones.
class PlacesWithoutData {
 public:
  void note(const onnx::TensorSite& site, Place place) { places_.insert_or_assign(site.path(), std::move(place)); }
  /// The place of a tensor of the skeleton; empty if the tensor got its site after loading.
  [[nodiscard]] Place place_of(const onnx::TensorSite& site) const;

 private:
  std::map<std::string, Place> places_;  // by site
};

/// A further graph of an archive: a skeleton with links into the payload table of the model.
struct LoadedGraph {
  std::string name;  ///< the entry's: `decoder.onnx`
  std::vector<std::byte> skeleton;
  PlacesWithoutData without_data = {};
};

struct LoadedModel {
  std::shared_ptr<Resolver> source;              ///< keeps what payloads view; null for a model made in memory
  std::uint64_t id = 0;                          ///< part of the skeleton's links
  std::size_t max_depth = most_nested_messages;  ///< of messages in the skeleton: LoadOptions::max_depth
  std::uint64_t input_size = 0;  ///< of the files that it was loaded from, in bytes; 0 if it was made in memory
  std::uint64_t max_expansion = default_expansion;  ///< LoadOptions::max_expansion; see expansion.h
  std::vector<std::byte> skeleton;
  PlacesWithoutData without_data = {};
  std::vector<Payload> payloads;    ///< by index in the links; a released payload has a null source
  std::vector<LoadedGraph> graphs;  ///< further graphs of an archive; their payloads are in the same table
  std::vector<SideFile> side_files;
  std::vector<std::string> left_out;  ///< entries that no tensor names and that are not side files
  std::uint64_t left_out_bytes = 0;
  bool is_family = false;            ///< loaded from several models, whose equal data an archive holds once
  std::uint64_t typed_made_raw = 0;  ///< payloads that were in typed fields
  std::vector<Finding> remarks;

  /// The folder that links to files count from, if LoadOptions::load_external_data was off; otherwise empty.
  std::filesystem::path data_folder;

  /// The payload that the tensor's link names; null if its data is inline, or in a file.
  [[nodiscard]] const Payload* payload_of(const onnx::TensorSite& site) const;
  /// The payload that a location names; null if it does not name a payload of this model.
  [[nodiscard]] const Payload* payload_at(std::string_view location) const;
};

/// The note for the report on saving that names the entries left out; nothing if there are none.
std::optional<Finding> note_of_left_out(const LoadedModel& model);

/// A random number of 19 digits, which tells the links of one model from those of a different model.
std::uint64_t new_model_id();

}  // namespace onnxar
