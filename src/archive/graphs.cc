// Finds the graphs of an archive and their tensors, and decides what each entry is used for.
#include "archive/graphs.h"

#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "archive/access.h"
#include "archive/evidence.h"
#include "archive/keys.h"
#include "base/crc32.h"
#include "base/errors.h"
#include "base/sources.h"
#include "base/text.h"
#include "onnx/string_entry.h"
#include "zip/name_index.h"
#include "zip/names.h"

namespace onnxar {
namespace {

using base::concat;

std::vector<onnx::MetadataEntry> names_in(Bytes model) {
  std::vector<onnx::MetadataEntry> found = onnx::find_metadata(model, model_name_key);
  std::erase_if(found, [](const onnx::MetadataEntry& entry) { return entry.entry.key != model_name_key; });
  return found;
}

/// True if the two names are equal, or one is a folder of the other (N10 to N12).
bool clash(std::string_view one, std::string_view other) {
  if (one.size() > other.size()) std::swap(one, other);
  return zip::equal_folded(one, other.substr(0, one.size())) &&
         (one.size() == other.size() || other[one.size()] == '/');
}

/// Returns why an archive with entries of these names cannot have another entry with this name; nothing if it can.
std::optional<std::string> clash_of(const std::string& name, std::span<const std::string_view> names) {
  const auto found = std::ranges::find_if(names, [&](std::string_view entry) { return clash(name, entry); });
  if (found == names.end()) return std::nullopt;
  if (found->size() == name.size()) return zip::name_clash(*found, {name, std::nullopt}).message();
  const std::string_view folder =
      std::min<std::string_view>(name, *found, [](auto a, auto b) { return a.size() < b.size(); });
  return zip::folder_clash(folder);
}

/// The maximum number of entries with one CRC-32 that are compared. A hostile archive may have a million such entries,
/// and comparing each new tensor with all of them would take quadratic time.
constexpr std::size_t most_compared = 4;

}  // namespace

std::vector<std::string> model_names_of(Bytes model) {
  std::vector<std::string> names;
  for (const onnx::MetadataEntry& found : names_in(model)) names.emplace_back(found.entry.value);
  return names;
}

/// Ignores a name that an entry cannot have: `check` reports it, and reading continues without it.
std::optional<std::string> model_name_of(Bytes model) {
  const std::vector<onnx::MetadataEntry> found = names_in(model);
  if (found.empty()) return std::nullopt;
  const std::string_view name = found.front().entry.value;
  if (graph_name_fault(concat(name, graph_suffix))) return std::nullopt;
  return std::string(name);
}

std::optional<std::string> name_of_model(const Archive& archive) {
  const ArchiveEntry model = archive.entry(archive.size() - 1);
  return base::annotated(Evidence{.archive = &archive, .graph = model}, [&] {
    const std::vector<std::string> names = model_names_of(archive.bytes(model));
    return names.empty() ? std::nullopt : std::optional(names.front());
  });
}

std::optional<ArchiveEntry> find_graph(const Archive& archive, std::string_view name) {
  const ArchiveEntry model = archive.entry(archive.size() - 1);
  if (name.empty() || name == model_entry_name) return model;
  // `a.onnx` means the graph `a.onnx` if there is one; otherwise it may mean `a.onnx.onnx`.
  for (const std::string& file : graph_file_names(name)) {
    const auto entry = archive.find(file);
    if (entry && is_graph_name(file)) return entry;
    const auto own = name_of_model(archive);
    if (own && concat(*own, graph_suffix) == file) return model;
  }
  return std::nullopt;
}

std::optional<std::string> file_of_graph(const Archive& archive, const ArchiveEntry& graph) {
  if (graph.index + 1 != archive.size()) return std::string(graph.name);
  const auto own = name_of_model(archive);
  return own ? std::optional(concat(*own, graph_suffix)) : std::nullopt;
}

std::optional<std::string> graph_name_fault(const std::string& name) {
  if (!name.ends_with(graph_suffix) || name.size() == graph_suffix.size()) return "is empty";
  if (name.ends_with(concat("/", graph_suffix))) return "has nothing after its last slash";
  if (const auto fault = zip::name_fault(name)) return std::string(fault->message);
  if (is_reserved_name(name)) return "begins like a reserved name";
  return std::nullopt;
}

std::string name_beside(std::string_view graph, std::string_view location) {
  const std::string_view folder = folder_of_name(graph);
  return folder.empty() ? std::string() : concat(folder, location);
}

Error shadow_error(std::string_view beside, std::string_view location, std::uint64_t tensor) {
  return {Code::archive_graph_shadow,  // G6
          concat("the entry ", base::quoted(beside), " in the graph's folder hides ", base::quoted(location),
                 ", which the tensor names: a loader of the unzipped archive reads the wrong one"),
          {"", tensor},
          {},
          {Hint::repack_rename, base::quoted(beside)}};
}

std::optional<MetadataFault> link_marker_fault(Bytes graph) {
  const auto found = onnx::find_metadata(graph, link_key_prefix);
  if (found.empty()) return std::nullopt;
  return MetadataFault{Code::archive_graph_link_marker,  // G3
                       concat("metadata_props has ", base::quoted(found.front().entry.key),
                              ", which makes it a link to an archive: its locations would be files and not entries"),
                       found.front().whole.begin};
}

std::optional<MetadataFault> model_name_fault(Bytes model, std::span<const std::string_view> names) {
  const std::vector<onnx::MetadataEntry> found = names_in(model);
  if (found.empty()) return std::nullopt;
  if (found.size() > 1) {  // G4
    return MetadataFault{Code::archive_graph_name, concat("metadata_props has ", model_name_key, " twice"),
                         found[1].whole.begin};
  }
  const std::string name = concat(found.front().entry.value, graph_suffix);
  auto fault = graph_name_fault(name);
  if (!fault) fault = clash_of(name, names);
  if (!fault) return std::nullopt;
  return MetadataFault{Code::archive_graph_name,  // G4
                       concat("the model's name among the graphs, ", base::quoted(found.front().entry.value),
                              ", cannot be the name of an entry ", base::quoted(name), ": ", *fault),
                       found.front().whole.begin};
}

void expect_free_model_name(Bytes model, std::span<const std::string_view> names, const std::filesystem::path& archive,
                            const Advice& advice) {
  const auto fault = model_name_fault(model, names);
  if (fault) throw Error(fault->code, fault->message, {std::string(model_entry_name), std::nullopt}, archive, advice);
}

void walk_graph(const Archive& archive, const ArchiveEntry& graph,
                const std::function<void(const onnx::TensorSite&)>& visit) {
  const Bytes bytes = archive.bytes(graph);
  base::annotated(Evidence{.archive = &archive, .graph = graph}, [&] { onnx::walk_tensors(bytes, visit); });
}

std::vector<ArchiveEntry> all_graphs(const Archive& archive) {
  std::vector<ArchiveEntry> graphs = archive.graphs();
  graphs.insert(graphs.begin(), archive.entry(archive.size() - 1));
  return graphs;
}

std::vector<std::size_t> walk_readable_graphs(const Archive& archive, const GraphVisitor& visit) {
  const ArchiveEntry model = archive.model_entry();
  walk_graph(archive, model, [&](const onnx::TensorSite& site) { visit(model, site); });
  std::vector<std::size_t> broken;
  for (const ArchiveEntry& graph : all_graphs(archive)) {
    if (graph.index == model.index) continue;
    const auto visit_here = [&](const onnx::TensorSite& site) { visit(graph, site); };
    if (!walk_as_far_as_read(archive, graph, visit_here)) broken.push_back(graph.index);
  }
  return broken;
}

bool walk_as_far_as_read(const Archive& archive, const ArchiveEntry& graph,
                         const std::function<void(const onnx::TensorSite&)>& visit) {
  try {
    onnx::walk_tensors(archive.bytes(graph), visit);
    return true;
  } catch (const Error& error) {
    if (kind(error.code()) != Kind::format) throw;  // a failed read says nothing about the graph
    return false;
  }
}

std::optional<ArchiveEntry> EntriesByContent::find(const ByteSource& source) const {
  // Computing the CRC-32 reads the whole source, so the size is looked up first: most new tensors equal no entry.
  const auto of_size = by_size_and_crc_.lower_bound({source.size(), 0});
  if (of_size == by_size_and_crc_.end() || of_size->first.first != source.size()) return std::nullopt;
  const auto [first, last] = by_size_and_crc_.equal_range({source.size(), base::crc32_of(source)});
  std::size_t compared = 0;
  for (auto each = first; each != last && compared < most_compared; ++each, ++compared) {
    const ArchiveEntry entry = archive_.entry(each->second);
    if (base::has_bytes(source, archive_.bytes(entry))) return entry;
  }
  return std::nullopt;
}

void EntryUses::note(const onnx::TensorSite& site) {
  if (!site.tensor.is_external() || !site.tensor.external.location) return;
  if (const auto entry = archive_.find(*site.tensor.external.location)) named_[entry->index] = true;
}

EntryKind EntryUses::kind_of(std::size_t index) const {
  if (index + 1 == archive_.size()) return EntryKind::model;
  const std::string_view name = archive_.entry(index).name;
  // A graph stays a graph even if a tensor of another graph links into its bytes.
  if (is_graph_name(name)) return EntryKind::graph;
  if (named_[index]) return EntryKind::weight;
  return is_key(name) ? EntryKind::unused : EntryKind::side_file;
}

std::size_t EntryUses::end_of_weights() const {
  // The search begins before the model, which is last. Every edit writes a new model, so it never counts.
  const auto last = std::find(named_.rbegin() + 1, named_.rend(), true);
  return static_cast<std::size_t>(named_.rend() - last);
}

EntryUses uses_of(const Archive& archive) {
  EntryUses uses(archive);
  for (const ArchiveEntry& graph : all_graphs(archive)) {
    walk_graph(archive, graph, [&uses](const onnx::TensorSite& site) { uses.note(site); });
  }
  return uses;
}

bool note_as_far_as_read(EntryUses& uses, const Archive& archive, const ArchiveEntry& graph) {
  return walk_as_far_as_read(archive, graph, [&uses](const onnx::TensorSite& site) { uses.note(site); });
}

void refuse_use_of_model(const EntryUses& uses, const Archive& archive, const ArchiveEntry& graph) {
  if (!uses.is_named(archive.size() - 1)) return;
  throw Error(Code::usage_argument,
              "a tensor of this graph links to the bytes of the model, so a new model would change its data",
              {std::string(graph.name), std::nullopt}, archive.path(), {Hint::pack_own_data});
}

}  // namespace onnxar
