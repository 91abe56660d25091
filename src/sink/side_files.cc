#include "sink/side_files.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "archive/entry_source.h"
#include "archive/keys.h"
#include "archive/new_names.h"
#include "base/keyed_hash.h"
#include "base/mapped_file.h"
#include "base/text.h"
#include "onnx/string_entry.h"
#include "onnxar/listing.h"
#include "tensors/archive_walk.h"
#include "tensors/entry_uses.h"
#include "zip/names.h"
#include "zip/unique_names.h"

namespace onnxar {
namespace {

/// Files by name, in the order in which the names came.
class NamedFiles {
 public:
  explicit NamedFiles(std::vector<SideFile> files) : files_(std::move(files)) {
    for (std::size_t i = 0; i < files_.size(); ++i) places_.try_emplace(files_[i].name, i);
  }

  [[nodiscard]] bool contains(std::string_view name) const { return places_.contains(name); }
  void add(SideFile file) {
    if (places_.try_emplace(file.name, files_.size()).second) files_.push_back(std::move(file));
  }
  void add_or_replace(SideFile file) {
    const auto [place, added] = places_.try_emplace(file.name, files_.size());
    if (added) {
      files_.push_back(std::move(file));
    } else {
      files_[place->second] = std::move(file);
    }
  }

  std::vector<SideFile> result() && { return std::move(files_); }

 private:
  std::vector<SideFile> files_;
  base::KeyedMap<std::string, std::size_t> places_;
};

/// Collects the entries besides the weights, from the model, another archive and single files.
class Gathering {
 public:
  explicit Gathering(const LoadedModel& model) : model_(model), side_files_(model.side_files), graphs_({}) {
    for (const LoadedGraph& graph : model.graphs) own_.insert(graph.name);
  }

  /// A file that is not a zip has no side files.
  void add_of(const std::filesystem::path& path) {
    const base::MappedFile file = base::MappedFile::open(path);
    if (!looks_like_zip(file.bytes())) return;
    try {
      add_of(std::make_shared<const Archive>(Archive::open(path)));
    } catch (const Error& error) {
      throw Error(error.code(),
                  base::concat(error.message(), "; its side files and graphs are to go along, and cannot be read"),
                  error.finding().place, error.path(), error.advice());
    }
  }

  void add(const AddedFile& added) {
    if (!is_graph_name(added.name)) return side_files_.add_or_replace(added_file(added));
    replaced_.insert(added.name);
    graphs_.add_or_replace(added_file(added));
  }

  Kept result() && {
    for (const LoadedGraph& graph : model_.graphs) {
      if (!replaced_.contains(graph.name)) kept_.graphs.push_back({graph.name, &graph, {}});
    }
    kept_.side_files = std::move(side_files_).result();
    kept_.whole_graphs = std::move(graphs_).result();
    return std::move(kept_);
  }

 private:
  void add_of(std::shared_ptr<const Archive> archive) {
    EntryUses uses(*archive);  // of the graphs that are copied
    EntryUses all(*archive);
    walk_all_graphs(*archive, {}, [&](const ArchiveEntry& graph, const onnx::TensorSite& site) {
      all.note(site);
      if (goes_along(graph.name)) uses.note(site);
    });
    for (std::size_t i = 0; i < archive->size(); ++i) {
      const ArchiveEntry entry = archive->entry(i);
      const EntryKind kind = all.kind_of(i);
      if (kind == EntryKind::side_file) side_files_.add(file_of(archive, entry));
      if (kind == EntryKind::graph && goes_along(entry.name)) graphs_.add(file_of(archive, entry));
      if (kind == EntryKind::weight && uses.is_named(i)) kept_.weights.push_back(entry);
      if (kind != EntryKind::weight && uses.is_named(i)) refuse_link_to(entry);
    }
    kept_.archive = std::move(archive);
  }

  [[nodiscard]] bool goes_along(std::string_view graph) const {
    return graph != model_entry_name && !own_.contains(graph);
  }

  static SideFile file_of(const std::shared_ptr<const Archive>& archive, const ArchiveEntry& entry) {
    auto source = std::make_shared<EntrySource>(*archive, entry);
    return {std::string(entry.name), std::make_shared<OwnedSource>(std::move(source), archive)};
  }

  /// The model is about to be another one, and so may a graph of this name.
  [[noreturn]] static void refuse_link_to(const ArchiveEntry& graph) {
    throw Error(Code::onnx_external_missing,
                "a graph that is to go along has a tensor in the bytes of this model or graph, which may be another "
                "one from now on",
                {std::string(graph.name), graph.header_offset}, {}, {Hint::pack_own_data});
  }

  const LoadedModel& model_;
  Kept kept_;
  NamedFiles side_files_;
  NamedFiles graphs_;
  base::KeyedSet<std::string> own_;       // names of the model's graphs
  base::KeyedSet<std::string> replaced_;  // names of graphs that another file replaces
};

/// Links may lead to weights only, so a rename must not turn a graph into a side file, or the reverse.
std::string renamed(Renames& renames, const std::string& name) {
  std::string to(renames(name));
  if (is_graph_name(name) == is_graph_name(to)) return to;
  throw Error(Code::usage_argument,
              base::concat("cannot rename ", base::quoted(name), " to ", base::quoted(to),
                           ": NAME.onnx in the root is a graph of the archive, other names are side files; a name in a "
                           "folder, such as extra/NAME.onnx, is that of a side file"));
}

void rename(Kept& kept, const std::vector<RenamedEntry>& list) {
  if (list.empty()) return;
  Renames renames(list);
  for (SideFile& file : kept.side_files) file.name = renamed(renames, file.name);
  for (PlacedGraph& graph : kept.graphs) graph.name = renamed(renames, graph.name);
  for (SideFile& graph : kept.whole_graphs) graph.name = renamed(renames, graph.name);
  renames.expect_all_met("side file or graph");
}

/// Checks names now, which the writer would check only after it has written all weights.
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

}  // namespace

std::vector<std::string_view> Kept::names() const {
  std::vector<std::string_view> names;
  for (const ArchiveEntry& weight : weights) names.push_back(weight.name);
  for (const SideFile& file : side_files) names.push_back(file.name);
  for (const PlacedGraph& graph : graphs) names.push_back(graph.name);
  for (const SideFile& graph : whole_graphs) names.push_back(graph.name);
  return names;
}

std::vector<ArchiveEntry> side_files(const Archive& archive, const LoadOptions& options) {
  const EntryUses uses = uses_of(archive, options);
  std::vector<ArchiveEntry> files;
  for (std::size_t i = 0; i < archive.size(); ++i) {
    if (uses.kind_of(i) == EntryKind::side_file) files.push_back(archive.entry(i));
  }
  return files;
}

std::vector<std::pair<std::string_view, std::string_view>> metadata(const Archive& archive) {
  std::vector<std::pair<std::string_view, std::string_view>> pairs;
  try {
    for (const onnx::MetadataEntry& found : onnx::find_metadata(archive.model(), "")) {
      pairs.emplace_back(found.entry.key, found.entry.value);
    }
  } catch (const Error& error) {
    throw annotate(error, archive);
  }
  return pairs;
}

void check_folders(const std::vector<SideFile>& files) {
  constexpr std::uint64_t always = 4096, folder_bytes = 4096, times = 8;
  std::uint64_t bytes = 0;
  std::vector<std::string_view> names;
  for (const SideFile& file : files) {
    bytes += file.name.size() + file.source->size();
    names.push_back(file.name);
  }
  std::ranges::sort(names);
  std::uint64_t folders = 0;
  std::string_view before;
  for (const std::string_view name : names) {  // neighbours share most of their folders
    const auto [end, ignored] = std::ranges::mismatch(name, before);
    folders += static_cast<std::uint64_t>(std::count(end, name.end(), '/'));
    before = name;
  }
  const std::uint64_t most = always + bytes / folder_bytes * times;
  if (folders <= most) return;
  throw Error(Code::zip_limit_folders,
              base::concat("its side files would be in ", folders, " folders, more than the ", most, " that files of ",
                           base::human_size(bytes),
                           " may be in; write the model alone, with -o FILE, or take files out with a zip tool"));
}

SideFile added_file(const AddedFile& added) {
  if (is_identifier(added.name)) {
    throw Error(Code::usage_argument, base::concat("a side file cannot be named ", base::quoted(added.name),
                                                   ": C identifiers are keys of tensors; give it an extension"));
  }
  const auto file = std::make_shared<const base::MappedFile>(base::MappedFile::open(added.path));
  return {added.name, payload_of(ByteSpan::borrow(file->bytes(), file), file->origin()).source};
}

Kept kept_to_save(const LoadedModel& model, const SaveOptions& options) {
  Gathering gathering(model);
  if (!options.side_files_of.empty()) gathering.add_of(options.side_files_of);
  for (const AddedFile& added : options.add) gathering.add(added);
  Kept kept = std::move(gathering).result();
  rename(kept, options.rename);
  if (options.format == Format::archive) check_names(kept);
  return kept;
}

}  // namespace onnxar
