#include "sink/companion_names.h"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "archive/keys.h"
#include "archive/new_names.h"
#include "base/text.h"
#include "zip/names.h"
#include "zip/unique_names.h"

namespace onnxar {
namespace {

/// The new name of a file. The name decides whether an entry is a graph, whose links count, so a rename must not turn a
/// graph into a side file, or the reverse.
std::string renamed(Renames& renames, const std::string& name) {
  std::string to(renames(name));
  if (is_graph_name(name) == is_graph_name(to)) return to;
  throw Error(Code::usage_argument,
              base::concat("cannot rename ", base::quoted(name), " to ", base::quoted(to),
                           ": NAME.onnx in the root is a graph of the archive, other names are side files; a name in a "
                           "folder, such as extra/NAME.onnx, is that of a side file"),
              {name, std::nullopt});
}

}  // namespace

void rename(ArchiveCompanions& companions, const std::vector<RenamedEntry>& renames) {
  if (renames.empty()) return;
  Renames names_to_give(renames);
  for (SideFile& file : companions.side_files) file.name = renamed(names_to_give, file.name);
  for (PlacedGraph& graph : companions.graphs) graph.name = renamed(names_to_give, graph.name);
  for (SideFile& graph : companions.whole_graphs) graph.name = renamed(names_to_give, graph.name);
  names_to_give.expect_all_met("side file or graph");
}

void check_names(const ArchiveCompanions& companions) {
  const std::vector<std::string_view> names = companions.names();
  // Names of weights come first and are those of an archive, so they were proved when it was opened.
  for (const std::string_view name : std::span(names).subspan(companions.weights.size())) {
    const Place place{std::string(name), std::nullopt};
    check_reserved(name, place);
    if (is_identifier(name)) {
      throw Error(Code::usage_argument,
                  "a side file cannot have this name: C identifiers are keys of tensors; give it an extension", place,
                  {}, {Hint::rename_entry});
    }
    if (const auto fault = zip::name_fault(name)) {
      throw Error(fault->code, std::string(fault->message), place, {}, {Hint::rename_entry});
    }
  }
  static_cast<void>(zip::index_of_names(
      names.size(), [&names](std::uint32_t i) { return names[i]; },
      [](std::uint32_t) { return std::optional<std::uint64_t>(); }));
}

}  // namespace onnxar
