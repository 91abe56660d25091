// Lists the entries of an archive, for the verb `ls`.
#include <algorithm>
#include <array>
#include <functional>
#include <iostream>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include "archive/front_end.h"
#include "onnxar/listing.h"
#include "shell/addresses.h"
#include "shell/exit_code.h"
#include "shell/graph_totals.h"
#include "shell/graph_totals_json.h"
#include "shell/json.h"
#include "shell/numbers.h"
#include "shell/options.h"
#include "shell/paths.h"
#include "shell/terminal.h"
#include "shell/verbs.h"
#include "verbs/ls_json.h"

namespace onnxar::tool {
namespace {

struct LsArguments {
  std::filesystem::path archive;
  std::string pattern;
  std::string sort = "offset";
  std::string graph;
  bool json = false;
};

/// Returns null for an unknown alignment: local headers at an address are not read.
Json recorded(const Json& alignment) { return alignment == 0 ? Json() : alignment; }

void print_json(const Listing& listing, const std::vector<GraphTotals>& graphs, const std::filesystem::path& path) {
  Json document;
  // Numbers are exact here: the table rounds for readers, and programs take this form.
  document["path"] = utf8_of(path);
  document["file_size"] = listing.file_size;
  document["alignment"] = recorded(listing.alignment);
  document["unused_bytes"] = listing.unused_bytes;
  document["padding_bytes"] = listing.padding_bytes;
  document["model"] = {{"offset", listing.model.offset}, {"size", listing.model.size}, {"crc32", listing.model.crc32}};
  if (!listing.model_name.empty()) document["model"]["graph"] = listing.model_name;
  document["graphs"] = graphs;
  document["entries"] = listing.entries;
  for (Json& entry : document["entries"]) entry["alignment"] = recorded(entry["alignment"]);
  print(document);
}

/// Columns: key, tensor, dtype, shape, size, offset, alignment, graphs. The last one is empty for a single graph.
using ListRow = std::array<std::string, 8>;
constexpr std::array<bool, 8> right_aligned = {false, false, false, false, true, true, true, false};

/// Returns the names, without their suffix, of the graphs whose tensors have data in an entry.
std::string graphs_text(const Listing& listing, const ListedEntry& entry) {
  const std::string model = listing.model_name.empty() ? "(model)" : escaped(listing.model_name);
  std::string text;
  for (const std::string& graph : entry.graphs) {
    text += text.empty() ? "" : " ";
    text += graph == listing.model.name ? model : escaped(graph.substr(0, graph.rfind('.')));
  }
  return text;
}

/// Adds one row per tensor. The first row has the entry's columns.
void add_rows(std::vector<ListRow>& rows, const ListedEntry& entry, const std::string& graphs = {}) {
  const bool shows_kind = entry.kind == EntryKind::side_file || entry.kind == EntryKind::graph;
  ListRow row = {escaped(entry.name),
                 shows_kind ? "(" + std::string(to_string(entry.kind)) + ")" : "-",
                 "-",
                 "-",
                 std::to_string(entry.size),
                 std::to_string(entry.offset),
                 entry.alignment == 0 ? "-" : std::to_string(entry.alignment),
                 graphs};
  if (entry.tensors.empty()) rows.push_back(row);
  for (const TensorInfo& tensor : entry.tensors) {
    row[1] = escaped(tensor.name.empty() ? tensor.output : tensor.name);
    row[2] = to_string(tensor.type);
    row[3] = shape_text(tensor.dims);
    rows.push_back(row);
    // The entry's columns appear once: repeating its size would look like more data.
    row = ListRow{};
  }
}

using Widths = std::array<std::size_t, 8>;

/// Narrows the widest of the columns that may be shortened (key, tensor, shape, graphs) until the table fits the
/// terminal.
void fit(Widths& widths, std::size_t terminal) {
  constexpr std::array<std::size_t, 4> flexible = {0, 1, 3, 7};
  constexpr std::size_t narrowest = 8;
  const auto total = [&widths] { return std::accumulate(widths.begin(), widths.end(), 2 * (widths.size() - 1)); };
  while (terminal != 0 && total() > terminal) {
    const std::size_t widest =
        *std::ranges::max_element(flexible, {}, [&widths](std::size_t column) { return widths.at(column); });
    if (widths.at(widest) <= narrowest) return;
    --widths.at(widest);
  }
}

void print_row(const ListRow& row, const Widths& widths, bool is_head, bool on_terminal) {
  std::string line;
  for (std::size_t i = 0; i < row.size(); ++i) {
    const std::string cell = on_terminal ? shortened(row.at(i), widths.at(i)) : row.at(i);
    const std::string gap(widths.at(i) - std::min(widths.at(i), width_of(cell)), ' ');
    line += (i == 0 ? "" : "  ") + (right_aligned.at(i) ? gap + cell : cell + gap);
  }
  line.erase(line.find_last_not_of(' ') + 1);
  std::cout << (is_head ? styled(os::Stream::output, Style::bold, line) : line) << '\n';
}

void print_rows(const std::vector<ListRow>& rows) {
  const std::size_t terminal = os::terminal_width(os::Stream::output);
  // Without a terminal, one long name must not push the columns of all other rows far to the right.
  const std::size_t widest = terminal == 0 ? 60 : terminal;
  Widths widths{};
  for (const ListRow& row : rows) {
    for (std::size_t i = 0; i < row.size(); ++i)
      widths.at(i) = std::min(widest, std::max(widths.at(i), width_of(row.at(i))));
  }
  fit(widths, terminal);
  for (const ListRow& row : rows) print_row(row, widths, &row == &rows.front(), terminal != 0);
}

void print_graphs(const std::vector<GraphTotals>& graphs) {
  for (const GraphTotals& graph : graphs) {
    for (const std::string& line : wrapped("graph " + text_of(graph), os::terminal_width(os::Stream::output))) {
      std::cout << line << '\n';
    }
  }
}

void print_totals(const Listing& listing, std::size_t all_entries) {
  std::uint64_t data = 0;
  for (const ListedEntry& entry : listing.entries) data += entry.size;
  const bool is_part = listing.entries.size() != all_entries;
  std::string text = (is_part ? std::to_string(listing.entries.size()) + " of " : "") +
                     counted(all_entries, "entry", "entries") + ", " + short_size(data) + " of data";
  if (!is_part) {
    text += ", model " + short_size(listing.model.size) + ", padding " + short_size(listing.padding_bytes) +
            ", unused " + short_size(listing.unused_bytes) + ", file " + short_size(listing.file_size);
  }
  for (const std::string& line : wrapped(text, os::terminal_width(os::Stream::output))) std::cout << line << '\n';
}

void print_table(const Listing& listing, const std::vector<GraphTotals>& graphs, const LsArguments& arguments,
                 std::size_t all_entries) {
  const bool several =
      std::ranges::find(listing.entries, EntryKind::graph, &ListedEntry::kind) != listing.entries.end();
  std::vector<ListRow> rows = {{"KEY", "TENSOR", "DTYPE", "SHAPE", "SIZE", "OFFSET", "ALIGN", several ? "GRAPHS" : ""}};
  for (const ListedEntry& entry : listing.entries) {
    add_rows(rows, entry, several ? graphs_text(listing, entry) : "");
  }
  if (arguments.pattern.empty() && arguments.graph.empty()) add_rows(rows, listing.model);
  print_rows(rows);
  if (listing.entries.size() == all_entries) print_graphs(graphs);
  print_totals(listing, all_entries);
}

/// Sorts entries by size, largest first, or by name. The library lists them by offset.
void sort(std::vector<ListedEntry>& entries, const std::string& by) {
  if (by == "size") std::ranges::stable_sort(entries, std::ranges::greater(), &ListedEntry::size);
  if (by == "name") std::ranges::stable_sort(entries, {}, &ListedEntry::name);
}

/// Keeps the entries that the chosen graph uses: the library names it first for each entry that it uses.
void keep_used(Listing& listing, std::string_view graph) {
  std::erase_if(listing.entries,
                [&graph](const ListedEntry& entry) { return entry.graphs.empty() || entry.graphs.front() != graph; });
}

int ls(const LsArguments& arguments) {
  const Archive archive = open_archive(arguments.archive).graph(arguments.graph);
  Listing listing = onnxar::ls(archive);
  const std::vector<GraphTotals> graphs = totals_of_graphs(archive, listing);
  const std::size_t all_entries = listing.entries.size();
  if (!arguments.graph.empty()) keep_used(listing, archive.model_entry().name);
  if (!arguments.pattern.empty()) {
    keep_matching(listing, arguments.pattern);
    if (listing.entries.empty()) {
      throw Error(Code::usage_no_such_entry,
                  "no entry, and no tensor in one, has a name that matches; `onnxar ls` without a pattern lists all",
                  {arguments.pattern, std::nullopt}, arguments.archive);
    }
  }
  sort(listing.entries, arguments.sort);
  if (arguments.json) {
    print_json(listing, graphs, arguments.archive);
  } else {
    print_table(listing, graphs, arguments, all_entries);
  }
  return exit_code::done;
}

}  // namespace

Verb add_ls(CLI::App& app) {
  auto arguments = std::make_shared<LsArguments>();
  CLI::App* verb = app.add_subcommand("ls", "List the entries of an archive and the tensors in them");
  add_file(*verb, "ARCHIVE", arguments->archive, "An archive");
  verb->add_option(
      "PATTERN", arguments->pattern,
      "List only entries that match this pattern, such as 'layer1.*', by their own name, or by the name or output of a "
      "tensor in them");
  add_choice(*verb, "--sort", arguments->sort, {"size", "name", "offset"},
             "The order of the entries; size: largest first")
      ->capture_default_str();
  add_graph(*verb, arguments->graph, "List only the entries that this graph uses, with its tensors");
  verb->add_flag("--json", arguments->json, "As JSON");
  add_timeout(*verb);
  verb->footer("Example: onnxar ls --json model.onnxar | jq '.entries[].name'");
  return {verb, [arguments] { return ls(*arguments); }};
}

}  // namespace onnxar::tool
