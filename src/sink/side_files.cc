#include "sink/side_files.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "archive/keys.h"
#include "base/exact_source.h"
#include "base/mapped_file.h"
#include "base/text.h"
#include "source/payload.h"
#include "zip/names.h"

namespace onnxar {
std::vector<std::string_view> ArchiveCompanions::names() const {
  std::vector<std::string_view> names;
  for (const ArchiveEntry& weight : weights) names.push_back(weight.name);
  for (const SideFile& file : side_files) names.push_back(file.name);
  for (const PlacedGraph& graph : graphs) names.push_back(graph.name);
  for (const SideFile& graph : whole_graphs) names.push_back(graph.name);
  return names;
}

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

SideFile added_file(const AddedFile& added) {
  if (is_identifier(added.name)) {
    throw Error(Code::usage_argument,
                base::concat("a side file cannot be named ", base::quoted(added.name),
                             ": C identifiers are keys of tensors; give it an extension"),
                {added.name, std::nullopt}, added.path);
  }
  if (added.source) return {added.name, added.source};
  // Opened now, so that a missing file ends the verb before its output is opened. The source keeps the mapping.
  const auto file = std::make_shared<const base::MappedFile>(base::MappedFile::open(added.path));
  return {added.name, payload_of(ByteSpan::borrow(file->bytes(), file), file->origin()).source};
}

void reserve_names(KeyMaker& keys, const std::vector<SideFile>& side_files) {
  for (const SideFile& file : side_files) keys.reserve(file.name);
}

std::uint64_t size_of(const std::vector<SideFile>& side_files) {
  std::uint64_t size = 0;
  for (const SideFile& file : side_files)
    size = base::add_announced(size, file.source->size(), {file.name, std::nullopt});
  return size;
}

void check_folders(const std::vector<SideFile>& files, const std::filesystem::path& output) {
  // Names cost few bytes in an archive, and each folder costs the file system a block. Without this limit, a small
  // hostile archive could fill a disk with empty folders.
  constexpr std::uint64_t always = 4096, folder_bytes = 4096, times = 8;
  std::uint64_t bytes = size_of(files);
  std::vector<std::string_view> names;
  for (const SideFile& file : files) {
    bytes += file.name.size();
    names.push_back(file.name);
  }
  const std::uint64_t most = always + bytes / folder_bytes * times;
  std::ranges::sort(names);
  std::uint64_t folders = 0;
  std::string_view before, beyond;             // `beyond` needs the first folder over the limit
  for (const std::string_view name : names) {  // sorted neighbours: common folders count once
    const auto [end, ignored] = std::ranges::mismatch(name, before);
    folders += static_cast<std::uint64_t>(std::count(end, name.end(), '/'));
    before = name;
    if (beyond.empty() && folders > most) beyond = name;
  }
  if (folders <= most) return;
  throw Error(Code::zip_limit_folders,
              base::concat("its side files would be in ", folders, " folders, over the limit of ", most,
                           " for files of ", base::human_size(bytes)),
              {std::string(beyond), std::nullopt}, output, {Hint::unpack_model_alone});
}

}  // namespace onnxar
