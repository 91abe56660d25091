#include <algorithm>
#include <array>
#include <iomanip>
#include <iostream>
#include <memory>

#include "onnxar/listing.h"
#include "shell/command.h"
#include "shell/json.h"
#include "shell/numbers.h"
#include "shell/paths.h"

namespace onnxar {

ONNXAR_JSON_OF(ListedEntry, name, offset, size, crc32, alignment, kind, tensors);

}  // namespace onnxar

namespace onnxar::tool {
namespace {

struct LsArguments {
  std::filesystem::path archive;
  bool json = false;
};

void print_json(const Listing& listing, const std::filesystem::path& path) {
  Json document;
  // Numbers are exact here: the table rounds for readers, and programs take this form.
  document["path"] = utf8_of(path);
  document["file_size"] = listing.file_size;
  document["alignment"] = listing.alignment;
  document["unused_bytes"] = listing.unused_bytes;
  document["padding_bytes"] = listing.padding_bytes;
  document["model"] = {{"offset", listing.model.offset}, {"size", listing.model.size}, {"crc32", listing.model.crc32}};
  document["entries"] = listing.entries;
  print(document);
}

/// Columns: key, tensor, dtype, shape, size, offset, alignment.
using ListingRow = std::array<std::string, 7>;
constexpr std::array<bool, 7> right_aligned = {false, false, false, false, true, true, true};

/// Adds one row per tensor. The first row has the entry's columns.
void add_rows(std::vector<ListingRow>& rows, const ListedEntry& entry) {
  const bool is_told = entry.kind == EntryKind::side_file || entry.kind == EntryKind::graph;
  ListingRow row = {escaped(entry.name),
                    is_told ? "(" + std::string(to_string(entry.kind)) + ")" : "-",
                    "-",
                    "-",
                    std::to_string(entry.size),
                    std::to_string(entry.offset),
                    std::to_string(entry.alignment)};
  if (entry.tensors.empty()) rows.push_back(row);
  for (const TensorInfo& tensor : entry.tensors) {
    row[1] = escaped(tensor.name);
    row[2] = to_string(tensor.type);
    row[3] = shape_text(tensor.dims);
    rows.push_back(row);
    // The entry's columns appear once: repeating its size would look like more data.
    row = ListingRow{};
  }
}

/// Returns the displayed width of a name: one column per code point, which is correct for most scripts.
std::size_t width_of(const std::string& text) {
  return static_cast<std::size_t>(
      std::ranges::count_if(text, [](char c) { return (static_cast<unsigned char>(c) & 0xc0U) != 0x80; }));
}

void print_rows(const std::vector<ListingRow>& rows) {
  // One long name must not push the columns of all other rows off the screen.
  constexpr std::size_t widest = 60;
  std::array<std::size_t, 7> widths{};
  for (const ListingRow& row : rows) {
    for (std::size_t i = 0; i < row.size(); ++i)
      widths.at(i) = std::min(widest, std::max(widths.at(i), width_of(row.at(i))));
  }
  for (const ListingRow& row : rows) {
    std::string line;
    for (std::size_t i = 0; i < row.size(); ++i) {
      const std::string& cell = row.at(i);
      const std::string gap(widths.at(i) - std::min(widths.at(i), width_of(cell)), ' ');
      line += (i == 0 ? "" : "  ") + (right_aligned.at(i) ? gap + cell : cell + gap);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    std::cout << line << '\n';
  }
}

void print_table(const Listing& listing) {
  std::vector<ListingRow> rows = {{"KEY", "TENSOR", "DTYPE", "SHAPE", "SIZE", "OFFSET", "ALIGN"}};
  for (const ListedEntry& entry : listing.entries) add_rows(rows, entry);
  add_rows(rows, listing.model);
  print_rows(rows);
  std::uint64_t data = 0;
  for (const ListedEntry& entry : listing.entries) data += entry.size;
  std::cout << counted(listing.entries.size(), "entry", "entries") << ", " << short_size(data) << " of data, model "
            << short_size(listing.model.size) << ", padding " << short_size(listing.padding_bytes) << ", unused "
            << short_size(listing.unused_bytes) << ", file " << short_size(listing.file_size) << '\n';
}

int ls(const LsArguments& arguments) {
  const Listing listing = onnxar::ls(arguments.archive);
  if (arguments.json) {
    print_json(listing, arguments.archive);
  } else {
    print_table(listing);
  }
  return exit_code::done;
}

}  // namespace

Verb add_ls(CLI::App& app) {
  auto arguments = std::make_shared<LsArguments>();
  CLI::App* verb = app.add_subcommand("ls", "List the entries of an archive and the tensors in them");
  add_file(*verb, "ARCHIVE", arguments->archive, "An archive");
  verb->add_flag("--json", arguments->json, "As JSON");
  verb->footer("Example: onnxar ls --json model.onnxar | jq '.entries[].name'");
  return {verb, [arguments] { return ls(*arguments); }};
}

}  // namespace onnxar::tool
