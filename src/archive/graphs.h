// The graphs of an archive: their names, the rules for their metadata (rules G of the specification), their tensors,
// and what each entry is for. No other file decides that.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "onnx/sites.h"
#include "onnxar/archive.h"
#include "onnxar/bytes.h"
#include "onnxar/content.h"
#include "onnxar/error.h"
#include "onnxar/options.h"

namespace onnxar {

/// The key in metadata_props that names the model among the graphs of an archive.
inline constexpr std::string_view model_name_key = "onnxar.model.name";

/// The prefix of the keys in metadata_props that make a model a link to an archive (convert/links.h).
inline constexpr std::string_view link_key_prefix = "onnxar.link.";

/// All names that the model gives itself, in the order of the file. Errors: wire.*.
std::vector<std::string> model_names_of(Bytes model);

/// The first name of the model, if a file can have it. Errors: wire.*.
std::optional<std::string> model_name_of(Bytes model);

/// The first name of the archive's own model, even if no graph could have it; nothing if there is none. Errors: wire.*,
/// naming the place.
std::optional<std::string> name_of_model(const Archive& archive);

/// The entry of the graph that a user calls `name`, as Archive::graph; the model's if `name` is empty. Nothing if the
/// archive lacks such a graph. Errors: as `name_of_model`.
std::optional<ArchiveEntry> find_graph(const Archive& archive, std::string_view name);

/// Returns why no graph can have this name (G1, N1 to N17); nothing if one can.
std::optional<std::string> graph_name_fault(const std::string& name);

/// The name of the entry that a loader of the unzipped archive opens for `location`: it looks in the folder of the
/// graph. Empty for a graph in the root, where that is `location` itself.
std::string name_beside(std::string_view graph, std::string_view location);

/// Returns the error of an entry `beside`, the result of `name_beside`, that is there (G6). `tensor` is the place of
/// the tensor in the graph.
Error shadow_error(std::string_view beside, std::string_view location, std::uint64_t tensor);

/// A breach in `metadata_props`. `offset` is the field's, from the graph's first byte.
struct MetadataFault {
  Code code;
  std::string message;
  std::uint64_t offset = 0;
};

/// Checks G3: a graph is not a link. Errors: wire.*.
std::optional<MetadataFault> link_marker_fault(Bytes graph);

/// Checks G4: the model has at most one name, and its name clashes with none of `names`, those of the entries of its
/// archive. Errors: wire.*. Cost: O(fields of ModelProto itself), and O(entries) if the model has a name.
std::optional<MetadataFault> model_name_fault(Bytes model, std::span<const std::string_view> names);

/// Refuses a model whose name breaks G4 in an archive with entries of these names. `names` need not hold the keys of
/// tensors, as a key never ends in `.onnx`. Errors: archive.graph.name, with `advice`; wire.*.
void expect_free_model_name(Bytes model, std::span<const std::string_view> names, const std::filesystem::path& archive,
                            const Advice& advice = {});

// Walks the tensors of graphs. Errors name the place in the file.

/// The entries of the model and of the further graphs, in the order of the file after the model.
std::vector<ArchiveEntry> all_graphs(const Archive& archive);

/// Visits every tensor of the model or of a graph. Errors: as Archive::bytes and onnx::walk_tensors.
void walk_graph(const Archive& archive, const ArchiveEntry& graph, const LoadOptions& options,
                const std::function<void(const onnx::TensorSite&)>& visit);

using GraphVisitor = std::function<void(const ArchiveEntry& graph, const onnx::TensorSite&)>;

/// Visits every tensor of all graphs. Those other than `archive.model_entry()`, which comes first, may be broken: their
/// tensors before the fault are visited. Returns the indices of the broken ones. Listings need this, and so do edits
/// that remove a broken graph.
std::vector<std::size_t> walk_readable_graphs(const Archive& archive, const LoadOptions& options,
                                              const GraphVisitor& visit);

/// Visits every tensor of one graph up to the first fault of its format. Returns whether it has none.
bool walk_as_far_as_read(const Archive& archive, const ArchiveEntry& graph, const LoadOptions& options,
                         const std::function<void(const onnx::TensorSite&)>& visit);

/// Turns the offset of `error`, which counts from the model's first byte, into a place in the file. An error that
/// already has a path or an entry stays as it is.
Error with_place_in(const Error& error, const Archive& archive);
/// As above, for an offset that counts from the first byte of `graph`.
Error with_place_in(const Error& error, const Archive& archive, const ArchiveEntry& graph);

/// Adds advice to an error at the entry `name`. A file that is not a graph may have its name by accident: the advice
/// says how to keep it as a side file. A wrong link shows that it is a graph, so this error gets the hint `of_links`. A
/// wrong CRC-32 is damage and says nothing about the kind of the file.
Error with_graph_advice(const Error& error, std::string_view name, Hint of_links);

// Finds entries by their bytes.

/// An index of some entries of an archive by size and CRC-32. The archive must outlive it.
class EntriesByContent {
 public:
  explicit EntriesByContent(const Archive& archive) : archive_(archive) {}

  /// Makes `entry` a candidate. Cost: O(log entries); its bytes are not read.
  void add(const ArchiveEntry& entry) { by_size_and_crc_.emplace(std::pair(entry.size, entry.crc32), entry.index); }

  /// Returns an entry with the bytes of `source`. Reads `source` only if an entry has its size, and an entry only if
  /// the CRC-32 is also equal. Compares only the first few entries of one CRC-32; if it misses an equal one, the caller
  /// writes the bytes a second time.
  [[nodiscard]] std::optional<ArchiveEntry> find(const ByteSource& source) const;

 private:
  const Archive& archive_;
  std::multimap<std::pair<std::uint64_t, std::uint32_t>, std::size_t> by_size_and_crc_;
};

/// The set of entries that tensors name. The answers are right only after every tensor of the model and of all graphs
/// was noted. The archive must outlive it.
class EntryUses {
 public:
  explicit EntryUses(const Archive& archive) : archive_(archive), named_(archive.size()) {}

  /// Notes the entry that the tensor's link names, even if its offset or length is wrong.
  void note(const onnx::TensorSite& site);
  /// Notes an entry by its index.
  void note(std::size_t index) { named_[index] = true; }
  [[nodiscard]] bool is_named(std::size_t index) const { return named_[index]; }
  [[nodiscard]] EntryKind kind_of(std::size_t index) const;
  /// One more than the index of the last entry that a tensor names; 0 if tensors name none. The model does not count.
  [[nodiscard]] std::size_t end_of_weights() const;

 private:
  const Archive& archive_;
  std::vector<bool> named_;
};

/// Walks the model and all graphs, and notes their tensors. Errors: wire.*, onnx.*, naming the entry. Cost: O(directory
/// + model + graphs).
EntryUses uses_of(const Archive& archive, const LoadOptions& options);

/// Notes the tensors of the model or of a graph up to the first fault of its format. Returns whether it has none.
bool note_as_far_as_read(EntryUses& uses, const Archive& archive, const ArchiveEntry& graph,
                         const LoadOptions& options);

/// Refuses to replace the model if `graph`, the last one that was noted, has a tensor in the bytes of the old model.
/// Errors: usage.argument, naming the graph.
void refuse_use_of_model(const EntryUses& uses, const Archive& archive, const ArchiveEntry& graph);

}  // namespace onnxar
