// Inspects any bytes: a model, an archive or text. They are refused as a fault of the format, or the numbers agree with
// each other. No name makes the output of `show` control a terminal or a browser.
#include <algorithm>
#include <iostream>
#include <sstream>
#include <string>
#include <string_view>

#include "fuzz/fuzz.h"
#include "fuzz/scratch.h"
#include "html/page.h"
#include "inspect/inspection.h"
#include "model/front_end.h"
#include "verbs/with_model/show_json.h"
#include "verbs/with_model/show_text.h"

namespace onnxar::fuzz::inspect_target {
namespace {

void check_map(const FileMap& map) {
  std::uint64_t end = 0;
  for (const FileBlock& block : map.blocks) {
    require(block.offset == end && block.size != 0, "blocks follow each other");
    end += block.size;
  }
  require(end == map.size, "and cover the file");
}

void check_sums(const Inspection& found) {
  std::uint64_t nodes = 0;
  for (const OpCount& op : found.graph.ops) nodes += op.nodes;
  require(nodes == found.graph.all_nodes && nodes == found.nodes.size(), "every node is of some operator, and listed");
  require(found.graph.nodes <= nodes && found.graph.depth <= found.graph.nodes, "no path is longer than the graph");
  std::uint64_t by_type = 0;
  std::uint64_t by_site = 0;
  for (const auto& [type, totals] : found.by_type) by_type += totals.tensors;
  for (const auto& [site, totals] : found.by_site) by_site += totals.tensors;
  require(by_type == found.tensors.tensors && by_site == by_type, "every tensor has a type and a site");
  for (std::size_t i = 1; i < found.largest.size(); ++i) {
    require(found.largest[i].bytes <= found.largest[i - 1].bytes, "the largest tensors come first");
  }
}

/// Backslashes come from escaping, and would be escaped again.
void check_printable(std::string text) {
  std::ranges::replace(text, '\\', ' ');
  std::ranges::replace(text, '\n', ' ');
  if (std::ranges::all_of(text, [](char c) { return c >= ' ' && c <= '~'; })) return;  // most is, and `escaped` is slow
  require(escaped(text) == text, "nothing that is printed commands a terminal");
}

void check_text(const Inspection& found) {
  std::ostringstream printed;
  std::streambuf* const stdout_buffer = std::cout.rdbuf(printed.rdbuf());
  tool::print_inspection(found, "m");
  tool::print_nodes(found);
  std::cout.rdbuf(stdout_buffer);
  check_printable(printed.str());
}

void check_json(const Inspection& found) {
  const std::string json =
      tool::inspection_as_json(found, "m", true).dump(0, ' ', false, tool::Json::error_handler_t::replace);
  require(tool::Json::accept(json), "JSON is JSON");
}

/// Between its style and its end, the page has only elements that the tool writes.
void check_page(const Inspection& found) {
  constexpr std::string_view known =
      " h1 h2 h3 p b br bdi table tr th td i span svg rect title ul li style head body html ";
  const std::string page = tool::html::page(found, "m");
  check_printable(page);
  std::string_view rest = std::string_view(page).substr(page.find("</style>"));
  while (true) {
    const std::size_t begin = rest.find('<');
    if (begin == std::string_view::npos) break;
    rest.remove_prefix(begin + 1);
    if (rest.starts_with('/')) rest.remove_prefix(1);
    const std::string name = " " + std::string(rest.substr(0, rest.find_first_of(" >"))) + " ";
    require(known.find(name) != std::string_view::npos, "an element that no page has:" + name);
  }
}

void check_dump(const std::filesystem::path& path) {
  std::string text;
  try {
    onnxar::dump(path, [&text](Bytes piece) { text += as_text(piece); });
  } catch (const Error& error) {
    require(error.code() == Code::zip_data_crc, "what can be inspected, which compares no CRC-32, can be dumped");
    return;
  }
  check_printable(text);
}

}  // namespace

void run(Bytes input) {
  const std::filesystem::path path = put("in", input);
  // With all steps, functions that call each other take a second of an input's time under sanitizers.
  constexpr std::uint64_t few_steps = 10'000;
  const auto found =
      accepted([&] { return onnxar::show(path, {.nodes = true, .files = true, .cost_steps = few_steps}); });
  if (!found) return;
  check_sums(*found);
  for (const FileMap& map : found->files) check_map(map);
  require(found->storage.file_bytes == input.size(), "the file has its size");
  if (is_turn(input, 0, 4)) check_text(*found);
  if (is_turn(input, 1, 4)) check_json(*found);
  if (is_turn(input, 2, 4)) check_page(*found);
  if (is_turn(input, 3, 4)) check_dump(path);
}

}  // namespace onnxar::fuzz::inspect_target
