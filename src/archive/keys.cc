// Distinguishes keys, names of graphs and reserved names.
#include "archive/keys.h"

#include <algorithm>
#include <array>
#include <string>

#include "base/text.h"
#include "onnxar/archive.h"
#include "onnxar/archive_writer.h"
#include "os/names.h"
#include "zip/names.h"

namespace onnxar {
namespace {

constexpr std::size_t longest_stem = 200;  // leaves room for a suffix in names of 255 bytes (W12)

/// The names of files that model repositories usually have and that are C identifiers (spec/graphs.md).
constexpr std::array<std::string_view, 6> texts_beside_models = {"LICENSE", "LICENCE", "NOTICE",
                                                                 "COPYING", "README",  "AUTHORS"};

using base::is_capital;
using base::is_digit;
using base::is_identifier_character;

}  // namespace

bool is_reserved_name(std::string_view name) noexcept {
  return name.size() > 2 && name[0] == '_' && name[1] == '_' && is_capital(name[2]);
}

void check_reserved(std::string_view name, const Place& place) {
  // On a file system that folds case, `__model_proto` and the model would be the same file.
  if (!is_reserved_name(name) && !zip::equal_folded(name, model_entry_name)) return;
  throw Error(
      Code::archive_name_reserved,  // N13
      "names that begin with two underscores and a capital are reserved, and so is the model's name, also in lower "
      "case; remove the entry or rename it",
      place);
}

void refuse_own_name(const Archive& archive, const std::filesystem::path& file) {
  const std::string name = os::text_of(file.filename());
  for (std::size_t i = 0; i < archive.size(); ++i) {
    const ArchiveEntry entry = archive.entry(i);
    if (!zip::equal_folded(entry.name, name)) continue;  // some file systems ignore case
    throw Error(
        Code::usage_own_name,
        "the archive's file has the same name as an entry, so a link to the file could be read as a link to the entry",
        {std::string(entry.name), entry.header_offset}, file, {Hint::repack_rename, base::quoted(entry.name)});
  }
}

void refuse_own_name(std::string_view name, const std::filesystem::path& file) {
  if (!zip::equal_folded(name, os::text_of(file.filename()))) return;
  throw Error(Code::usage_own_name,
              "the archive's file has this name, so a link to the file could be read as a link to the entry: "
              "rename one of them",
              {std::string(name), std::nullopt}, file);
}

bool is_identifier(std::string_view name) noexcept {
  return !name.empty() && !is_digit(name.front()) && std::ranges::all_of(name, is_identifier_character);
}

bool is_key(std::string_view name) noexcept {
  return is_identifier(name) && std::ranges::find(texts_beside_models, name) == texts_beside_models.end();
}

std::string_view stem_of_graph(std::string_view name) noexcept {
  const std::string_view stem = name.substr(0, name.size() - std::min(name.size(), graph_suffix.size()));
  return name.ends_with(graph_suffix) && !stem.empty() && stem.back() != '/' ? stem : name;
}

bool is_graph_name(std::string_view name) noexcept {
  return stem_of_graph(name).size() < name.size() && !is_reserved_name(name);
}

std::string graph_file_name(std::string_view name) {
  return std::string(name) + std::string(name.ends_with(graph_suffix) ? "" : graph_suffix);
}

std::array<std::string, 3> graph_file_names(std::string_view name) {
  return {graph_file_name(name), base::concat(name, graph_suffix), base::concat(name, "/model", graph_suffix)};
}

std::string_view folder_of_name(std::string_view name) noexcept { return name.substr(0, name.rfind('/') + 1); }

std::string key_stem(std::string_view name) {
  std::string stem(name.substr(0, longest_stem));
  std::ranges::replace_if(stem, [](char c) { return !is_identifier_character(c); }, '_');
  if (stem.empty()) stem = "tensor";
  if (is_digit(stem.front())) stem.insert(0, "_");
  if (is_reserved_name(stem) || os::is_device_name(stem) || !is_key(stem)) stem.insert(0, "t_");
  stem.resize(std::min(stem.size(), longest_stem));
  return stem;
}

}  // namespace onnxar
