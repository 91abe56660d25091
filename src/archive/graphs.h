// Finds the graphs of an archive, checks their names and metadata (rules G of the specification), walks their tensors,
// and decides what each entry is for. No other file decides that.
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

#include "archive/access.h"
#include "onnx/sites.h"
#include "onnxar/archive.h"
#include "onnxar/bytes.h"
#include "onnxar/error.h"
#include "onnxar/listing.h"
#include "onnxar/options.h"

namespace onnxar {

/// The key in metadata_props that names the model among the graphs of an archive.
inline constexpr std::string_view model_name_key = "onnxar.model.name";

/// The prefix of the keys in metadata_props that make a model a link to an archive (convert/links.h).
inline constexpr std::string_view link_key_prefix = "onnxar.link.";

/// Returns all names that the model has in its metadata, in the order of the file. Throws wire.*.
std::vector<std::string> model_names_of(Bytes model);

/// Returns the first name of the model, if it is a valid file name. Throws wire.*.
std::optional<std::string> model_name_of(Bytes model);

/// Returns the first name of the archive's own model, even if no graph could have it; nothing if there is none. Throws
/// wire.* with the place in the file.
std::optional<std::string> name_of_model(const Archive& archive);

/// Returns the entry of the graph that a user calls `name`, as Archive::graph does; the model's entry if `name` is
/// empty; nothing if there is no such graph. Throws what `name_of_model` throws.
std::optional<ArchiveEntry> find_graph(const Archive& archive, std::string_view name);

/// Returns the name of the file of a graph: of the model, that of its own name; nothing if it has none. Throws what
/// `name_of_model` throws.
std::optional<std::string> file_of_graph(const Archive& archive, const ArchiveEntry& graph);

/// Returns why a graph cannot have this name (G1, N1 to N17); nothing if it can.
std::optional<std::string> graph_name_fault(const std::string& name);

/// Returns the name of the entry that a loader of the unzipped archive opens for `location`: it looks in the folder of
/// the graph. Returns an empty name for a graph in the root, where the entry is `location` itself.
std::string name_beside(std::string_view graph, std::string_view location);

/// Returns the error for an entry `beside`, the result of `name_beside`, that exists (G6). `tensor` is the place of the
/// tensor in the graph.
Error shadow_error(std::string_view beside, std::string_view location, std::uint64_t tensor);

/// Describes a fault in `metadata_props`. `offset` is that of the field, from the graph's first byte.
struct MetadataFault {
  Code code;
  std::string message;
  std::uint64_t offset = 0;
};

/// Checks G3: a graph is not a link. Throws wire.*.
std::optional<MetadataFault> link_marker_fault(Bytes graph);

/// Checks G4: the model has at most one name, which does not clash with `names`, the names of the archive's entries.
/// Throws wire.*. Cost: O(fields of ModelProto itself), and O(entries) if the model has a name.
std::optional<MetadataFault> model_name_fault(Bytes model, std::span<const std::string_view> names);

/// Throws archive.graph.name, with `advice`, if the model's name breaks G4 in an archive with entries of these names.
/// `names` need not contain the keys of tensors, because a key never ends in `.onnx`. Also throws wire.*.
void expect_free_model_name(Bytes model, std::span<const std::string_view> names, const std::filesystem::path& archive,
                            const Advice& advice = {});

// Walks the tensors of graphs. Errors name the place in the file.

/// Returns the entries of the model and of the further graphs, in the order of the file after the model.
std::vector<ArchiveEntry> all_graphs(const Archive& archive);

/// Visits every tensor of the model or of a graph. Throws what Archive::bytes and onnx::walk_tensors throw.
void walk_graph(const Archive& archive, const ArchiveEntry& graph,
                const std::function<void(const onnx::TensorSite&)>& visit);

using GraphVisitor = std::function<void(const ArchiveEntry& graph, const onnx::TensorSite&)>;

/// Visits every tensor of all graphs, `archive.model_entry()` first. The other graphs may be broken: then the tensors
/// before the fault are visited. Returns the indices of the broken graphs. Used by listings and by edits that remove a
/// broken graph.
std::vector<std::size_t> walk_readable_graphs(const Archive& archive, const GraphVisitor& visit);

/// Visits every tensor of one graph up to the first fault of its format. Returns true if it has no fault.
bool walk_as_far_as_read(const Archive& archive, const ArchiveEntry& graph,
                         const std::function<void(const onnx::TensorSite&)>& visit);

// Finds entries by their bytes.

/// Indexes some entries of an archive by size and CRC-32.
class EntriesByContent {
 public:
  explicit EntriesByContent(const Archive& archive) : archive_(ArchiveAccess::share(archive)) {}

  /// Makes `entry` a candidate. Cost: O(log entries); its bytes are not read.
  void add(const ArchiveEntry& entry) { by_size_and_crc_.emplace(std::pair(entry.size, entry.crc32), entry.index); }

  /// Returns an entry with the bytes of `source`. Reads `source` only if an entry has its size, and reads an entry only
  /// if the CRC-32 is equal too. Compares only the first few entries with the same CRC-32; if it misses an equal entry,
  /// the caller writes the bytes a second time.
  [[nodiscard]] std::optional<ArchiveEntry> find(const ByteSource& source) const;

 private:
  Archive archive_;
  std::multimap<std::pair<std::uint64_t, std::uint32_t>, std::size_t> by_size_and_crc_;
};

/// Records which entries tensors name. The results are valid only after every tensor of the model and of all graphs was
/// noted.
class EntryUses {
 public:
  explicit EntryUses(const Archive& archive) : archive_(ArchiveAccess::share(archive)), named_(archive.size()) {}

  /// Notes the entry that the tensor's link names, even if its offset or length is wrong.
  void note(const onnx::TensorSite& site);
  /// Notes an entry by its index.
  void note(std::size_t index) { named_[index] = true; }
  [[nodiscard]] bool is_named(std::size_t index) const { return named_[index]; }
  [[nodiscard]] EntryKind kind_of(std::size_t index) const;
  /// Returns one more than the index of the last entry that a tensor names; 0 if tensors name no entry. Ignores the
  /// model.
  [[nodiscard]] std::size_t end_of_weights() const;

 private:
  Archive archive_;
  std::vector<bool> named_;
};

/// Walks the model and all graphs, and notes their tensors. Throws wire.* and onnx.* with the name of the entry. Cost:
/// O(directory + model + graphs).
EntryUses uses_of(const Archive& archive);

/// Notes the tensors of the model or of a graph up to the first fault of its format. Returns true if it has no fault.
bool note_as_far_as_read(EntryUses& uses, const Archive& archive, const ArchiveEntry& graph);

/// Throws usage.argument with the name of `graph`, the last graph that was noted, if it has a tensor in the bytes of
/// the model: the model must not be replaced then.
void refuse_use_of_model(const EntryUses& uses, const Archive& archive, const ArchiveEntry& graph);

}  // namespace onnxar
