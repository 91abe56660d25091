#include "sink/kept_names.h"

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

void rename(Kept& kept, const std::vector<RenamedEntry>& list) {
  if (list.empty()) return;
  Renames renames(list);
  for (SideFile& file : kept.side_files) file.name = renamed(renames, file.name);
  for (PlacedGraph& graph : kept.graphs) graph.name = renamed(renames, graph.name);
  for (SideFile& graph : kept.whole_graphs) graph.name = renamed(renames, graph.name);
  renames.expect_all_met("side file or graph");
}

void check_names(const Kept& kept) {
  const std::vector<std::string_view> names = kept.names();
  for (const std::string_view name : std::span(names).subspan(kept.weights.size())) {
    const Place place{std::string(name), std::nullopt};
    check_reserved(name, place);
    if (const auto fault = zip::name_fault(name)) {
      throw Error(fault->code, std::string(fault->message), place, {}, {Hint::rename_entry});
    }
  }
  static_cast<void>(zip::index_of_names(
      names.size(), [&names](std::uint32_t i) { return names[i]; },
      [](std::uint32_t) { return std::optional<std::uint64_t>(); }));
}

}  // namespace onnxar
