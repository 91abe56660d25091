// Writes the graphs of an archive as a tree of folders in HTML.
#include "html/graph_tree.h"

#include <algorithm>
#include <cstddef>
#include <span>
#include <string_view>

#include "html/markup.h"
#include "shell/graph_totals.h"

namespace onnxar::tool::html {
namespace {

std::string item(std::string_view label, const std::string& rest) {
  return concat("<li><bdi>", escaped_text(label), "</bdi>", rest, "</li>\n");
}

/// Returns the list of what is in a folder, whose name and slash are the first `folder` bytes of all names. Names have
/// at most 255 bytes, which bounds the depth.
std::string list_of(std::span<const GraphTotals> graphs, std::size_t folder) {
  std::string items;
  for (std::size_t at = 0; at < graphs.size();) {
    const std::string_view rest = std::string_view(graphs[at].name).substr(folder);
    const std::size_t slash = rest.find('/');
    if (slash == std::string_view::npos) {
      items += item(rest.empty() ? "(model)" : rest, concat(": ", numbers_of(graphs[at++])));
      continue;
    }
    const std::string_view inner = rest.substr(0, slash + 1);
    // All names in the folder are one after the other, since the names are in order.
    const auto is_inside = [&](const GraphTotals& graph) {
      return std::string_view(graph.name).substr(folder).starts_with(inner);
    };
    const std::span<const GraphTotals> left = graphs.subspan(at);
    const auto size = static_cast<std::size_t>(std::ranges::find_if_not(left, is_inside) - left.begin());
    items += item(inner, list_of(left.first(size), folder + inner.size()));
    at += size;
  }
  return concat("<ul class=\"tree\">\n", items, "</ul>\n");
}

}  // namespace

std::string graph_tree(std::vector<GraphTotals> graphs) {
  if (graphs.empty()) return {};
  std::ranges::sort(graphs, {}, &GraphTotals::name);
  return list_of(graphs, 0);
}

}  // namespace onnxar::tool::html
