// Checks names of graphs, and their metadata_props.
#include "archive/graph_rules.h"

#include <algorithm>
#include <utility>

#include "archive/keys.h"
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

std::optional<std::string> graph_name_fault(const std::string& name) {
  if (name.size() == graph_suffix.size()) return "is empty";
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

}  // namespace onnxar
