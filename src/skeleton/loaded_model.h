// A model in memory: a skeleton and a table of payloads.
//
// The skeleton is the ModelProto with large payloads replaced by links `#onnxar:<id>:<index>`; the table holds what
// they link to. Every source is split into this form and every target is written from it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "onnxar/error.h"
#include "onnxar/options.h"
#include "skeleton/policy.h"
#include "source/other_entries.h"
#include "source/payload.h"
#include "source/resolver.h"

namespace onnxar {

/// A further graph of an archive, as it is in memory: a skeleton with links to the payloads of the model beside it.
struct LoadedGraph {
  std::string name;  ///< of its entry: `decoder.onnx`
  std::vector<std::byte> skeleton;
};

struct LoadedModel {
  std::shared_ptr<Resolver> source;  ///< what payloads are views of; null for a model made in memory
  std::uint64_t id = 0;              ///< is in the skeleton's links
  std::size_t max_depth = 100;       ///< of the messages in the skeleton, as it was allowed in loading
  std::uint64_t input_size = 0;      ///< of the files that it was loaded from; 0 for a model made in memory
  std::uint64_t max_expansion = 8;   ///< as it was allowed in loading: see expansion.h
  std::vector<std::byte> skeleton;
  std::vector<Payload> payloads;    ///< by index in the links; without a source where it was released
  std::vector<LoadedGraph> graphs;  ///< further ones of an archive; their payloads are in the same table
  std::vector<SideFile> side_files;
  std::vector<std::string> left_out;  ///< entries that no tensor names and that are not side files
  std::uint64_t left_out_bytes = 0;
  std::vector<Finding> remarks;

  /// The folder of the files that tensors are still linked to, if loading was told to leave external data alone; empty
  /// if there is none.
  std::filesystem::path data_folder;

  /// The payload of a tensor whose link names one of this model's; null for one that is inline or linked to a file.
  [[nodiscard]] const Payload* payload_of(const onnx::TensorSite& site) const;
  /// The payload that a location names, if it is one of this model's.
  [[nodiscard]] const Payload* payload_at(std::string_view location) const;
};

/// A note for the report of writing the model anew, which names what is left out; nothing where nothing is.
std::optional<Finding> note_of_left_out(const LoadedModel& model);

/// A random number: what tells the links of one model from those of another.
std::uint64_t new_model_id();

}  // namespace onnxar
