#include "source/graph_rules.h"

#include <algorithm>
#include <vector>

#include "archive/keys.h"
#include "base/text.h"
#include "onnx/string_entry.h"
#include "source/link_marker.h"
#include "zip/names.h"
#include "zip/unique_names.h"

namespace onnxar {
namespace {

using base::concat;

std::vector<onnx::MetadataEntry> names_in(Bytes model) {
  std::vector<onnx::MetadataEntry> found = onnx::find_metadata(model, model_name_key);
  std::erase_if(found, [](const onnx::MetadataEntry& entry) { return entry.entry.key != model_name_key; });
  return found;
}

/// Says why the first `count` names cannot be in one archive. A `count` of one more than `names` has includes `name`.
std::optional<std::string> clash_among(std::size_t count, const EntryNames& names, const std::string& name) {
  try {
    static_cast<void>(zip::index_of_names(
        count, [&](std::uint32_t i) { return i < names.count ? names.name_of(i) : std::string_view(name); },
        [](std::uint32_t) { return std::optional<std::uint64_t>(); }));
    return std::nullopt;
  } catch (const Error& error) {
    return error.message();
  }
}

/// Says why an entry with this name could not be added. A clash among the existing entries is not the fault of `name`,
/// so it is reported by the checks of the directory alone.
std::optional<std::string> clash_of(const std::string& name, const EntryNames& names) {
  auto clash = clash_among(names.count + 1, names, name);
  return clash && !clash_among(names.count, names, name) ? clash : std::nullopt;
}

}  // namespace

std::optional<std::string> graph_name_fault(const std::string& name) {
  if (!name.ends_with(graph_suffix) || name.size() == graph_suffix.size()) return "is empty";
  if (const auto fault = zip::name_fault(name)) return std::string(fault->message);
  if (name.find('/') != std::string::npos) return "contains a slash";
  if (is_reserved_name(name)) return "begins like the format's own names";
  return std::nullopt;
}

std::optional<MetadataFault> link_marker_fault(Bytes graph) {
  const auto found = onnx::find_metadata(graph, link_key_prefix);
  if (found.empty()) return std::nullopt;
  return MetadataFault{Code::archive_graph_link_marker,  // G3
                       concat("metadata_props has ", base::quoted(found.front().entry.key),
                              ", which makes it a link to an archive: its locations would be files and not entries"),
                       found.front().whole.begin};
}

std::optional<MetadataFault> model_name_fault(Bytes model, const EntryNames& names) {
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
                              ", cannot be that of an entry ", base::quoted(name), ": ", *fault),
                       found.front().whole.begin};
}

void expect_free_model_name(Bytes model, std::span<const std::string_view> names, const std::filesystem::path& archive,
                            const Advice& advice) {
  const auto fault = model_name_fault(model, {names.size(), [names](std::size_t i) { return names[i]; }});
  if (fault) throw Error(fault->code, fault->message, {std::string(model_entry_name), std::nullopt}, archive, advice);
}

std::vector<std::string> model_names_of(Bytes model) {
  std::vector<std::string> names;
  for (const onnx::MetadataEntry& found : names_in(model)) names.emplace_back(found.entry.value);
  return names;
}

/// A name that no entry could have counts as none: `check` reports it, and reading goes on without it.
std::optional<std::string> model_name_of(Bytes model) {
  const std::vector<onnx::MetadataEntry> found = names_in(model);
  if (found.empty()) return std::nullopt;
  const std::string_view name = found.front().entry.value;
  if (graph_name_fault(concat(name, graph_suffix))) return std::nullopt;
  return std::string(name);
}

}  // namespace onnxar
