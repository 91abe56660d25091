// Prints an inspection as text.
#include "verbs/with_model/show_text.h"

#include <algorithm>
#include <cstddef>
#include <iostream>
#include <set>
#include <string>
#include <vector>

#include "shell/graph_totals.h"
#include "shell/numbers.h"
#include "shell/terminal.h"

namespace onnxar::tool {
namespace {

constexpr std::size_t label_width = 15;

void line(const std::string& label, const std::string& text) {
  // Most models lack some of these facts, and a label alone would say nothing.
  if (text.empty()) return;
  const std::size_t terminal = os::terminal_width(os::Stream::output);
  std::string head = styled(os::Stream::output, Style::bold, label) +
                     std::string(label_width - std::min(label.size(), label_width - 1), ' ');
  for (const std::string& part : wrapped(text, terminal > 2 * label_width ? terminal - label_width : 0)) {
    std::cout << head << part << '\n';
    head = std::string(label_width, ' ');
  }
}

/// Prints a list under one label. After `most` items, prints only the number of the others.
void lines(const std::string& label, const std::vector<std::string>& texts, std::size_t most) {
  for (std::size_t i = 0; i < texts.size() && i < most; ++i) line(i == 0 ? label : "", texts[i]);
  if (texts.size() > most) line("", "... and " + std::to_string(texts.size() - most) + " more");
}

template <typename Items, typename Text>
std::vector<std::string> texts_of(const Items& items, const Text& text_of) {
  std::vector<std::string> texts;
  for (const auto& item : items) texts.push_back(text_of(item));
  return texts;
}

std::string joined(const std::vector<std::string>& texts, std::size_t most) {
  std::string text;
  for (std::size_t i = 0; i < texts.size() && i < most; ++i) text += (i == 0 ? "" : ", ") + texts[i];
  if (texts.size() > most) text += ", and " + std::to_string(texts.size() - most) + " more";
  return text;
}

std::string grouped(std::uint64_t number) { return tool::grouped(number, ","); }

std::string text_of(const ValueSummary& value) {
  const auto name = [](const std::string& text) { return escaped(text); };
  const std::string named = escaped(value.name) + (value.type.empty() ? "" : " ") + escaped(value.type);
  return named + (value.shape ? shape_text(*value.shape, name) : "");
}

std::string text_of(const OpsetSummary& opset) { return escaped(to_string(opset)); }

std::string text_of(const FunctionSummary& function) {
  return escaped(op_name(function.domain, function.name)) +
         (function.overload.empty() ? "" : ":" + escaped(function.overload)) + ": " + counted(function.nodes, "node") +
         ", " + counted(function.inputs.size(), "input") + ", " + counted(function.outputs.size(), "output");
}

std::string text_of(const TensorTotals& totals) {
  return grouped(totals.tensors) + (totals.tensors == 1 ? " tensor, " : " tensors, ") + grouped(totals.elements) +
         " elements, " + short_size(totals.bytes);
}

std::string text_of(const LargeTensor& large) {
  const TensorInfo& tensor = large.tensor;
  return escaped(tensor.label()) + " " + to_string(tensor.type) + shape_text(tensor.dims) + ", " +
         short_size(large.bytes);
}

std::string text_of(const UnknownCost& unknown) {
  return escaped(op_name(unknown.domain, unknown.op)) + ", " + counted(unknown.nodes, "node") + ": " + unknown.reason +
         " (" + escaped(unknown.first_site) + ")";
}

void print_graph(const GraphSummary& graph, std::size_t functions) {
  std::string nodes =
      grouped(graph.nodes) + (graph.nodes == 1 ? " node" : " nodes") + ", depth " + grouped(graph.depth);
  if (graph.all_nodes != graph.nodes) {
    nodes += "; " + grouped(graph.all_nodes) + " with " + grouped(graph.subgraphs) + " subgraphs and " +
             grouped(functions) + " functions";
  }
  line("graph", escaped(graph.name) + (graph.name.empty() ? "" : ": ") + nodes);
  constexpr std::size_t most = 10;
  line("cycle", joined(texts_of(graph.cycle, [](const auto& site) { return escaped(site); }), most));
  lines("undefined",
        texts_of(graph.dangling,
                 [](const auto& input) { return escaped(input.name) + ", used by " + escaped(input.site); }),
        most);
}

/// Returns `4,089,184,256 (4.09 G)`.
std::string multiply_adds_text(const CostEstimate& cost) {
  if (cost.multiply_adds == 0 && !cost.not_known.empty()) return "not known";
  const std::string short_form = cost.multiply_adds < 1000 ? "" : " (" + short_count(cost.multiply_adds) + ")";
  return (cost.not_known.empty() ? "" : "at least ") + grouped(cost.multiply_adds) + short_form;
}

/// Says how to set the open dimensions of the inputs, if there are any: `--dim batch=N,x[1]=N`.
void print_open_dimensions(const std::vector<ValueSummary>& inputs) {
  std::set<std::string> names;
  std::string text;
  for (const ValueSummary& input : inputs) {
    const std::vector<Dimension> dims = input.shape.value_or(std::vector<Dimension>());
    for (std::size_t i = 0; i < dims.size(); ++i) {
      if (dims[i].value) continue;
      const std::string& own = dims[i].name;
      const std::string name = escaped(own.empty() ? input.name + "[" + std::to_string(i) + "]" : own);
      if (names.insert(name).second) text += (text.empty() ? "" : ",") + name + "=N";
    }
  }
  if (!text.empty()) line("", "`--dim " + text + "` counts for these sizes");
}

/// Returns `64 <= length <= 512, width >= 3`, of the dimensions that the model restricts.
std::string ranges_text(const std::vector<SizeRange>& sizes) {
  std::string text;
  for (const SizeRange& range : sizes) {
    const bool has_least = range.least != SizeRange().least;
    const bool has_most = range.most != SizeRange().most;
    if (!has_least && !has_most) continue;
    text += text.empty() ? "" : ", ";
    if (has_least && has_most) text += std::to_string(range.least) + " <= ";
    text += escaped(range.name);
    if (has_least && !has_most) text += " >= " + std::to_string(range.least);
    if (has_most) text += " <= " + std::to_string(range.most);
  }
  return text;
}

void print_polynomial(const CostPolynomial& cost) {
  line("multiply-adds", to_string(cost, [](const std::string& name) { return escaped(name); }));
  const std::string ranges = ranges_text(cost.sizes);
  if (!ranges.empty()) line("", "for " + ranges);
}

void print_cost(const CostEstimate& cost, const std::vector<ValueSummary>& inputs) {
  if (cost.polynomial) {
    print_polynomial(*cost.polynomial);
    return print_open_dimensions(inputs);
  }
  std::string text = multiply_adds_text(cost);
  const auto by_op = texts_of(cost.by_op, [](const OpCost& op) {
    return escaped(op_name(op.domain, op.op)) + " " + short_count(op.multiply_adds) + " in " + std::to_string(op.nodes);
  });
  if (!by_op.empty()) text += ": " + joined(by_op, by_op.size());
  line("multiply-adds", text);
  if (cost.in_subgraphs != 0) line("", grouped(cost.in_subgraphs) + " more in subgraphs, each run once");
  constexpr std::size_t most = 10;
  lines("not counted", texts_of(cost.not_known, [](const auto& unknown) { return text_of(unknown); }), most);
  if (!cost.not_known.empty()) print_open_dimensions(inputs);
}

void print_storage(const StorageSummary& sums) {
  std::string text = "file " + short_size(sums.file_bytes) + ", model " + short_size(sums.model_bytes);
  const auto add = [&text](const char* what, std::uint64_t bytes) {
    if (bytes != 0) text += std::string(", ") + what + " " + short_size(bytes);
  };
  add("tensors in it", sums.inline_bytes);
  add("in entries", sums.archived_bytes);
  add("in data files", sums.external_bytes);
  add("graphs", sums.graph_bytes);
  add("side files", sums.side_bytes);
  add("padding", sums.padding_bytes);
  add("unused", sums.unused_bytes);
  line("storage", text);
}

/// Fits the text to the terminal. Lines after the first are indented further.
void print_indented(std::size_t indent, const std::string& text) {
  constexpr std::size_t further = 4;
  const std::size_t terminal = os::terminal_width(os::Stream::output);
  std::string head(indent, ' ');
  for (const std::string& part : wrapped(text, terminal > 2 * (indent + further) ? terminal - indent - further : 0)) {
    std::cout << head << part << '\n';
    head = std::string(indent + further, ' ');
  }
}

}  // namespace

void print_inspection(const Inspection& inspection, const std::string& path) {
  constexpr std::size_t most = 10;
  constexpr std::size_t most_ops = 30;
  line("model", escaped_path(path) + ": " + std::string(to_string(inspection.form)));
  std::string producer = inspection.producer_name;
  if (!inspection.producer_version.empty()) producer += " " + inspection.producer_version;
  line("producer", escaped(producer));
  line("IR version", std::to_string(inspection.ir_version));
  line("opsets", joined(texts_of(inspection.opsets, [](const auto& opset) { return text_of(opset); }), most));
  lines("inputs", texts_of(inspection.graph.inputs, [](const auto& value) { return text_of(value); }), most);
  lines("outputs", texts_of(inspection.graph.outputs, [](const auto& value) { return text_of(value); }), most);
  print_graph(inspection.graph, inspection.functions.size());
  lines("functions", texts_of(inspection.functions, [](const auto& function) { return text_of(function); }), most);
  if (inspection.training_infos != 0) line("training", counted(inspection.training_infos, "training info"));
  line("operators", joined(texts_of(inspection.graph.ops,
                                    [](const OpCount& op) {
                                      return escaped(op_name(op.domain, op.op)) + " " + std::to_string(op.nodes);
                                    }),
                           most_ops));
  line("parameters",
       grouped(inspection.parameters) +
           (inspection.statistics == 0 ? "" : ", and " + grouped(inspection.statistics) + " " + statistics_words));
  line("tensors", text_of(inspection.tensors));
  const auto of_row = [](const std::string& name, const TensorTotals& totals) { return name + ": " + text_of(totals); };
  lines("by type",
        texts_of(inspection.by_type, [&](const auto& row) { return of_row(to_string(row.first), row.second); }), most);
  lines("by site", texts_of(inspection.by_site, [&](const auto& row) { return of_row(row.first, row.second); }), most);
  lines("largest", texts_of(inspection.largest, [](const auto& large) { return text_of(large); }), most);
  print_cost(inspection.cost, inspection.graph.inputs);
  print_storage(inspection.storage);
  lines("graphs", texts_of(inspection.graphs, [](const auto& graph) { return text_of(graph); }),
        inspection.graphs.size());
  lines("metadata",
        texts_of(inspection.metadata,
                 [](const auto& entry) {
                   constexpr std::size_t longest = 100;
                   const std::size_t size = entry.second.size();
                   return escaped(entry.first) + " = " + escaped(entry.second.substr(0, longest)) +
                          (size > longest ? "... (" + grouped(size) + " bytes)" : "");
                 }),
        most);
}

void print_nodes(const Inspection& inspection) {
  std::string function;
  for (const NodeSummary& node : inspection.nodes) {
    const std::string owner = node.site.substr(0, node.site.find('.'));
    if (owner != function && owner != "graph") std::cout << owner << ":\n";
    function = owner;
    const auto names = [](const std::vector<std::string>& list) {
      return joined(texts_of(list, [](const auto& name) { return name.empty() ? "-" : escaped(name); }), list.size());
    };
    std::string text = escaped(op_name(node.domain, node.op));
    if (!node.name.empty()) text += " \"" + escaped(node.name) + "\"";
    text += " (" + names(node.inputs) + ") -> (" + names(node.outputs) + ")";
    for (const auto& [name, value] : node.attributes) text += " " + escaped(name) + "=" + escaped(value);
    print_indented(2 * (node.level + (owner == "graph" ? 0 : 1)), text);
  }
}

}  // namespace onnxar::tool
