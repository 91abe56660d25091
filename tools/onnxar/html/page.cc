// Writes the page of `show --html` from an inspection.
#include "html/page.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <string>
#include <vector>

#include "html/file_map.h"
#include "html/graph_tree.h"
#include "html/markup.h"
#include "html/style.h"
#include "shell/numbers.h"
#include "shell/paths.h"

namespace onnxar::tool::html {
namespace {

/// Marks up a name. `<bdi>` prevents a name in a right-to-left script from reordering the text around it.
std::string name(const std::string& text) {
  if (text.empty()) return {};
  return concat("<bdi>", escaped_text(text), "</bdi>");
}
std::string cell(const std::string& html) { return concat("<td>", html, "</td>"); }
std::string number_cell(std::uint64_t number) { return concat("<td class=\"n\">", grouped(number), "</td>"); }
std::string row(const std::string& cells) { return concat("<tr>", cells, "</tr>\n"); }
std::string table(const std::string& id, const std::string& rows) {
  if (rows.empty()) return {};
  return concat("<table id=\"", id, "\">\n", rows, "</table>\n");
}
std::string section(const std::string& title, const std::string& html) {
  if (html.empty()) return {};
  return concat("<h2>", title, "</h2>\n", html);
}
std::string fact(const std::string& what, const std::string& html) {
  return html.find_first_not_of(' ') == std::string::npos ? "" : row(concat("<th>", what, "</th>", cell(html)));
}

std::string text_of(const ValueSummary& value) {
  return concat(name(value.name), " ", escaped_text(value.type), value.shape ? shape_text(*value.shape, name) : "");
}

std::string text_of(const std::vector<ValueSummary>& values) {
  std::string text;
  for (const ValueSummary& value : values) text += concat(text.empty() ? "" : "<br>", text_of(value));
  return text;
}

std::string bar(std::uint64_t value, std::uint64_t most) {
  std::array<char, 16> percent{};
  const double share = most == 0 ? 0 : 100.0 * static_cast<double>(value) / static_cast<double>(most);
  std::snprintf(percent.data(), percent.size(), "%.2f", share);
  return concat("<td class=\"bar\"><i style=\"width:", percent.data(), "%\"></i></td>");
}

std::string multiply_adds(const CostEstimate& cost) {
  if (cost.polynomial) return to_string(*cost.polynomial, name);
  if (cost.multiply_adds == 0 && !cost.not_known.empty()) return "not known";
  return concat(cost.not_known.empty() ? "" : "at least ", grouped(cost.multiply_adds));
}

std::string head(const Inspection& inspection) {
  std::string opsets;
  for (const OpsetSummary& opset : inspection.opsets) {
    opsets += concat(opsets.empty() ? "" : ", ", name(to_string(opset)));
  }
  const GraphSummary& graph = inspection.graph;
  std::string nodes = concat(grouped(graph.nodes), ", depth ", grouped(graph.depth));
  if (graph.all_nodes != graph.nodes) {
    nodes += concat("; ", grouped(graph.all_nodes), " with ", grouped(graph.subgraphs), " subgraphs and ",
                    grouped(inspection.functions.size()), " functions");
  }
  // `check` does not look at the order of nodes, so the page names the first fault of each kind.
  if (!graph.cycle.empty()) nodes += "; <b>a cycle</b> through " + escaped_text(graph.cycle.front());
  if (!graph.dangling.empty()) {
    nodes += concat("; <b>undefined input</b> ", name(graph.dangling.front().name), " of ",
                    escaped_text(graph.dangling.front().site));
  }
  std::string metadata;
  for (const auto& [key, value] : inspection.metadata) {
    // A value may have any length, and the page is a summary.
    metadata += concat(metadata.empty() ? "" : "<br>", name(key), " = ", name(value.substr(0, 200)));
  }
  return table(
      "summary",
      fact("Producer", concat(name(inspection.producer_name), " ", name(inspection.producer_version))) +
          fact("IR version", std::to_string(inspection.ir_version)) + fact("Opsets", opsets) +
          fact("Graphs", graph_tree(inspection.graphs)) + fact("Graph", name(graph.name)) + fact("Nodes", nodes) +
          fact("Inputs", text_of(graph.inputs)) + fact("Outputs", text_of(graph.outputs)) +
          fact("Parameters", concat(grouped(inspection.parameters),
                                    inspection.statistics == 0
                                        ? ""
                                        : concat(" and ", grouped(inspection.statistics), " ", statistics_words))) +
          fact("Multiply-adds", multiply_adds(inspection.cost)) + fact("Metadata", metadata));
}

std::string storage(const StorageSummary& sums) {
  std::string rows;
  const auto add = [&rows](const std::string& what, std::uint64_t bytes) {
    if (bytes != 0) rows += row(concat("<th>", what, "</th>", number_cell(bytes)));
  };
  add("File", sums.file_bytes);
  add("Model", sums.model_bytes);
  add("Tensors in the model", sums.inline_bytes);
  add("Tensors in entries", sums.archived_bytes);
  add("Tensors in data files", sums.external_bytes);
  add("Graphs", sums.graph_bytes);
  add("Side files", sums.side_bytes);
  add("Padding", sums.padding_bytes);
  add("Unused", sums.unused_bytes);
  return table("storage", rows);
}

std::string operators(const std::vector<OpCount>& ops) {
  std::string rows;
  const std::uint64_t most = ops.empty() ? 0 : ops.front().nodes;
  for (const OpCount& op : ops)
    rows += row(cell(name(op_name(op.domain, op.op))) + number_cell(op.nodes) + bar(op.nodes, most));
  return table("operators", rows);
}

std::string cost(const CostEstimate& estimate) {
  std::string rows;
  const std::uint64_t most = estimate.by_op.empty() ? 0 : estimate.by_op.front().multiply_adds;
  for (const OpCost& op : estimate.by_op) {
    rows += row(cell(name(op_name(op.domain, op.op))) + number_cell(op.nodes) + number_cell(op.multiply_adds) +
                bar(op.multiply_adds, most));
  }
  std::string unknown;
  for (const UnknownCost& op : estimate.not_known) {
    if (estimate.polynomial) break;  // it has them all
    unknown += concat("<p class=\"faint\">Not counted: ", name(op_name(op.domain, op.op)), ", ", grouped(op.nodes),
                      op.nodes == 1 ? " node" : " nodes", ": ", escaped_text(op.reason), " (",
                      escaped_text(op.first_site), ")</p>\n");
  }
  if (estimate.in_subgraphs != 0) {
    unknown += concat("<p class=\"faint\">Subgraphs, each run once: ", grouped(estimate.in_subgraphs), "</p>\n");
  }
  return table("cost", rows) + unknown;
}

std::string tensors(const Inspection& inspection) {
  std::string types;
  for (const auto& [type, totals] : inspection.by_type) {
    types += row(cell(escaped_text(to_string(type))) + number_cell(totals.tensors) + number_cell(totals.elements) +
                 number_cell(totals.bytes) + bar(totals.bytes, inspection.tensors.bytes));
  }
  std::string sites;
  for (const auto& [site, totals] : inspection.by_site) {
    sites += row(cell(escaped_text(site)) + number_cell(totals.tensors) + number_cell(totals.elements) +
                 number_cell(totals.bytes) + bar(totals.bytes, inspection.tensors.bytes));
  }
  std::string largest;
  for (const LargeTensor& large : inspection.largest) {
    largest += row(cell(name(large.tensor.name.empty() ? large.tensor.site : large.tensor.name)) +
                   cell(escaped_text(to_string(large.tensor.type) + shape_text(large.tensor.dims))) +
                   number_cell(large.bytes));
  }
  const std::string columns =
      "<tr><th></th><th class=\"n\">tensors</th><th class=\"n\">elements</th><th "
      "class=\"n\">bytes</th><th></th></tr>\n";
  return table("types", columns + types) + table("sites", columns + sites) + "<h3>Largest</h3>\n" +
         table("largest", largest);
}

std::string files(const std::vector<FileMap>& maps) {
  std::string text;
  for (const FileMap& map : maps) {
    text += concat("<h3>", name(utf8_of(map.path.filename())), " <span class=\"faint\">", grouped(map.size),
                   " bytes</span></h3>\n", file_map(map));
  }
  return text;
}

}  // namespace

std::string page(const Inspection& inspection, const std::string& title) {
  // Self-contained: style and pictures are in the page, which has no script and refers to no other file.
  const std::string heading = escaped_text(title);
  return concat("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n",
                "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>", heading,
                "</title>\n<style>", style, "</style>\n</head>\n<body>\n<h1><bdi>", heading,
                "</bdi></h1>\n<p class=\"faint\">", to_string(inspection.form), ", ",
                grouped(inspection.storage.file_bytes), " bytes</p>\n", section("Summary", head(inspection)),
                section("Files", files(inspection.files)), section("Storage", storage(inspection.storage)),
                section("Operators", operators(inspection.graph.ops)), section("Multiply-adds", cost(inspection.cost)),
                section("Tensors", tensors(inspection)), "</body>\n</html>\n");
}

}  // namespace onnxar::tool::html
