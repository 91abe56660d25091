// Holds a model in memory as a skeleton and a table of payloads. Also decides which data is outside a model, and limits
// the bytes of an output.
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
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/checked.h"
#include "convert/model_source.h"
#include "onnx/sites.h"
#include "onnxar/bytes.h"
#include "onnxar/error.h"
#include "onnxar/options.h"

namespace onnxar {

// Decides which tensors have their data outside the model.

/// In bytes. ONNX Runtime and shape inference read small integer tensors (shapes, axes) while they build the graph,
/// before external data is available. INT32 and INT64 tensors below this size stay inline at any threshold.
inline constexpr std::uint64_t small_integers_below = 1024;

/// Decides which data is external in one form of output.
class ExternalPolicy {
 public:
  /// Keeps all data in the model.
  static ExternalPolicy everything_inline();
  /// Returns the rule for files. Inline and text formats keep all data in the model.
  static ExternalPolicy of(const SaveOptions& options);
  /// Returns the rule for models in memory: every payload of at least the threshold, at any site.
  static ExternalPolicy of(const LoadOptions& options);

  /// True if the data of a tensor at this site, with `size` bytes, belongs outside the model.
  [[nodiscard]] bool is_external(const onnx::TensorSite& site, std::uint64_t size) const;

 private:
  std::optional<std::uint64_t> threshold_;
  bool all_sites_ = false;
  bool attributes_ = true;
  bool subgraphs_ = true;
};

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

// Handles names that a graph defines more than once. Moving the data of such a tensor into or out of the model could
// change the definition that a runtime uses (onnx/duplicates.h).

/// Refuses to move the data of a tensor into the model at `path`: throws onnx.graph.duplicate, with `hint` as advice.
[[noreturn]] void refuse_duplicate(const onnx::TensorSite& site, const std::filesystem::path& path, Hint hint);

/// Refuses a model that has such a tensor with external data, for outputs with all data inside. Does not check the
/// other graphs. Throws what `refuse_duplicate` throws. Cost: O(fields of the skeleton).
void refuse_duplicates_outside(const LoadedModel& model, const std::filesystem::path& path, Hint hint);

// Limits the size of an output relative to its input, because tensors may share bytes.

/// Returns the number of distinct bytes in `places`: bytes in several places count once. Cost: O(n log n).
std::uint64_t distinct_bytes(const std::vector<Bytes>& places);

/// Counts the bytes that an output would have, and refuses more than the limit: a hostile model may name the same bytes
/// a million times, or overlapping slices. Ignores payloads that tensors cannot share.
class Expansion {
 public:
  /// Allows up to `most_times` times `input` bytes. Errors have the advice `hint`.
  Expansion(std::uint64_t input, std::uint64_t most_times, Hint hint = Hint::max_expansion) noexcept;
  /// Sets the limit for `model`. Its input is its files, or the payloads that it received in memory.
  explicit Expansion(const LoadedModel& model);

  /// Counts `bytes` more. Throws onnx.model.expansion.
  void add(std::uint64_t bytes);
  void add(const Payload& payload) { add(payload.may_be_shared ? payload.size() : 0); }
  /// Counts a payload unless one with the same extent was counted, because such payloads are written once.
  void add_once(const Payload& payload);

  [[nodiscard]] std::uint64_t made() const noexcept { return budget_.made(); }

 private:
  std::filesystem::path path_;  // path of the model, for messages
  base::ByteBudget budget_;
  Hint hint_;
  std::set<Extent> seen_;
};

/// Returns a note for the report on saving that names the omitted entries; nothing if there are none.
std::optional<Finding> note_of_left_out(const LoadedModel& model);

/// Returns a random number of 19 digits, which distinguishes the links of one model from the links of another.
std::uint64_t new_model_id();

}  // namespace onnxar
