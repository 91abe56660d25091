// Gathers the side files and graphs that are saved with a model, renames them, and checks their names.
#include "convert/companions_to_save.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "archive/entry_source.h"
#include "archive/entry_uses.h"
#include "archive/graph_rules.h"
#include "archive/graphs.h"
#include "archive/keys.h"
#include "archive/opened_input.h"
#include "archive/renames.h"
#include "base/annotated.h"
#include "base/kept.h"
#include "base/keyed_hash.h"
#include "base/mapped_file.h"
#include "base/sources.h"
#include "base/text.h"
#include "convert/archive_source.h"
#include "convert/entry_names.h"
#include "convert/file_source.h"
#include "convert/files_beside.h"
#include "convert/model_source.h"
#include "convert/variants.h"
#include "convert/whole_file.h"
#include "onnx/rewrite.h"
#include "onnx/rope.h"
#include "onnx/sites.h"

namespace onnxar {
namespace {

/// Holds files by name, in the order in which their names were first added.
class NamedFiles {
 public:
  explicit NamedFiles(std::vector<SideFile> files) : files_(std::move(files)) {
    for (std::size_t i = 0; i < files_.size(); ++i) places_.try_emplace(files_[i].name, i);
  }

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

/// Returns the archives whose models are packed, directly or by links.
std::vector<const Archive*> archives_of(const LoadedModel& model) {
  std::vector<const Archive*> archives;
  const auto add = [&archives](const auto& source) {
    const Archive* archive = source ? archive_of(*source) : nullptr;
    const auto* const file = dynamic_cast<const FileSource*>(source.get());
    if (file != nullptr) archive = file->linked_archive();
    if (archive != nullptr) archives.push_back(archive);
  };
  add(model.source);
  std::ranges::for_each(model.further_sources, add);
  return archives;
}

/// Returns the bytes of a source: a view if they lie in memory, or else a copy.
ByteSpan in_memory(const ByteSource& source) {
  const auto whole = base::in_one_piece(source);
  return whole ? ByteSpan::borrow(*whole, nullptr) : gathered(source);
}

/// Returns the bytes of a graph without the name that it has if it was the model of a family: in an archive only the
/// model has one (G4). Returns the source itself if there is nothing to remove, or if the graph cannot be read: its
/// writer reports why.
std::shared_ptr<const ByteSource> without_name(std::shared_ptr<const ByteSource> graph) {
  const auto bytes = std::make_shared<const ByteSpan>(in_memory(*graph));
  const auto keep = [](const onnx::TensorSite&) { return onnx::TensorEdit::keep(); };
  onnx::MetadataEdit edit;
  edit.drop_key = model_name_key;
  try {
    if (model_names_of(bytes->bytes()).empty()) return graph;
    auto nameless = std::make_shared<onnx::Rope>(onnx::rewrite_tensors(bytes->bytes(), keep, edit));
    const auto owner = std::make_shared<OwnedSource>(graph, bytes);  // `bytes` may be a view of `graph`
    return std::make_shared<OwnedSource>(std::move(nameless), owner);
  } catch (const Error&) {
    return graph;
  }
}

/// Collects the entries besides the weights: from the model, from one more archive and from single files.
class Gathering {
 public:
  explicit Gathering(base::Kept<const LoadedModel> model) : model_(model), side_files_(model_.side_files), graphs_({}) {
    for (const LoadedGraph& graph : model_.graphs) own_.insert(graph.name);
  }

  /// Adds the entries of the archive at `path`. Adds nothing if the file is not a zip, because it then has no side
  /// files.
  void add_of(const std::filesystem::path& path) {
    const OpenedInput input(path);
    if (!input.is_zip()) return;
    try {
      add_of(std::make_shared<const Archive>(input.archive()));
    } catch (const Error& error) {
      throw Error(error.code(),
                  base::concat(error.message(), "; its side files and graphs cannot be copied to the output"),
                  error.finding().place, error.path(), error.advice());
    }
  }

  /// Adds a file, or replaces the file of the same name. Throws usage.argument if a file added before or a packed model
  /// has the name.
  void add(const AddedFile& added) {
    if (!added_.insert(added.name).second) {
      throw Error(Code::usage_argument, "two added files have this name; rename one", {added.name, std::nullopt},
                  added.path);
    }
    // Graphs of archives may be replaced, but a model that the caller named must not be lost.
    if (std::ranges::find(model_.given, added.name) != model_.given.end()) {
      throw Error(Code::usage_argument, "a packed model and an added file both have this name",
                  {added.name, std::nullopt}, added.path, {Hint::name_graph});
    }
    SideFile file = added_file(added);
    const bool is_graph = is_graph_name(added.name);
    if (is_graph) note_links(added, *file.source);
    (is_graph ? graphs_ : side_files_).add_or_replace(std::move(file));
  }

  ArchiveCompanions result() && {
    for (const LoadedGraph& graph : model_.graphs) {
      if (!added_.contains(graph.name)) companions_.graphs.push_back({graph.name, &graph, {}});
    }
    companions_.side_files = std::move(side_files_).result();
    companions_.whole_graphs = std::move(graphs_).result();
    return std::move(companions_);
  }

 private:
  void add_of(std::shared_ptr<const Archive> archive) {
    // Entry kinds depend on all graphs, but only the weights of copied graphs are needed.
    EntryUses uses(*archive);  // uses by the copied graphs
    EntryUses all(*archive);
    companions_.weights_by_content.emplace(*archive);
    for (const ArchiveEntry& graph : all_graphs(*archive)) {
      archive->verify(graph);  // its links determine which entries are copied
      walk_graph(*archive, graph, [&](const onnx::TensorSite& site) {
        all.note(site);
        if (goes_along(graph.name)) uses.note(site);
      });
    }
    for (std::size_t i = 0; i < archive->size(); ++i) {
      const ArchiveEntry entry = archive->entry(i);
      const EntryKind kind = all.kind_of(i);
      if (kind == EntryKind::side_file) side_files_.add(file_of(archive, entry));
      if (kind == EntryKind::graph && goes_along(entry.name)) graphs_.add(graph_of(archive, entry));
      if (!uses.is_named(i)) continue;
      if (kind != EntryKind::weight) refuse_link_to(entry, archive->path());
      companions_.weights.push_back(file_of(archive, entry));
      companions_.weights_by_content->add(entry);
    }
    companions_.archive = std::move(archive);
  }

  /// Notes the entries of the input that an added graph names. The weights may have other keys in the output.
  void note_links(const AddedFile& added, const ByteSource& graph) {
    const ByteSpan bytes = in_memory(graph);
    std::ranges::move(files_beside(added, bytes.bytes()), std::back_inserter(companions_.files_beside));
    const std::vector<const Archive*> inputs = archives_of(model_);
    if (inputs.empty()) return;
    base::KeyedSet<std::string> seen;
    const auto note = [&](const onnx::TensorSite& site) {
      const auto location = site.tensor.linked_location();
      if (!location || !seen.emplace(*location).second) return;
      AddedLink link{added.name, {}};
      for (const Archive* input : inputs) {
        if (const auto entry = input->find(*location)) link.meant.emplace_back(input, *entry);
      }
      if (!link.meant.empty()) companions_.added_links.push_back(std::move(link));
    };
    try {
      onnx::walk_tensors(bytes.bytes(), note);
    } catch (const Error&) {
      return;  // the archive's writer refuses a graph that cannot be read
    }
  }

  /// True if a graph is copied. The output has a different model, whose own graphs take precedence.
  [[nodiscard]] bool goes_along(std::string_view graph) const {
    return graph != model_entry_name && !own_.contains(graph);
  }

  static SideFile file_of(const std::shared_ptr<const Archive>& archive, const ArchiveEntry& entry) {
    auto source = std::make_shared<EntrySource>(*archive, entry);
    // The source keeps the archive mapped, because it is read only when the output is written.
    return {std::string(entry.name), std::make_shared<OwnedSource>(std::move(source), archive)};
  }

  static SideFile graph_of(const std::shared_ptr<const Archive>& archive, const ArchiveEntry& entry) {
    SideFile graph = file_of(archive, entry);
    graph.source = without_name(std::move(graph.source));
    return graph;
  }

  /// Refuses a link to a graph: the new archive has a different model, and may have a different graph of this name.
  [[noreturn]] static void refuse_link_to(const ArchiveEntry& graph, const std::filesystem::path& archive) {
    throw Error(
        Code::onnx_external_missing,
        "a tensor of a graph to be copied is linked to the bytes of this model or graph, but the new archive may "
        "replace them",
        {std::string(graph.name), graph.header_offset}, archive, {Hint::pack_own_data});
  }

  const LoadedModel& model_;
  ArchiveCompanions companions_;
  NamedFiles side_files_;
  NamedFiles graphs_;
  base::KeyedSet<std::string> own_;    // names of the model's graphs
  base::KeyedSet<std::string> added_;  // names of added files
};

/// Returns the new name of a file. Names identify graphs, whose links count, so a rename must not turn a graph into a
/// side file or the reverse.
std::string renamed(Renames& renames, const std::string& name) {
  std::string to(renames(name));
  if (is_graph_name(name) == is_graph_name(to)) return to;
  throw Error(Code::usage_argument,
              base::concat("cannot rename ", base::quoted(name), " to ", base::quoted(to),
                           ": NAME.onnx is a graph of the archive, other names, such as NAME.onnx.bin, are side files"),
              {name, std::nullopt});
}

/// Gives side files and graphs their new names. Throws usage.argument if no file has an old name, or if a side file
/// would become a graph or a graph a side file.
void rename(ArchiveCompanions& companions, const std::vector<RenamedEntry>& renames) {
  if (renames.empty()) return;
  Renames names_to_give(renames);
  for (SideFile& file : companions.side_files) file.name = renamed(names_to_give, file.name);
  for (PlacedGraph& graph : companions.graphs) graph.name = renamed(names_to_give, graph.name);
  for (SideFile& graph : companions.whole_graphs) graph.name = renamed(names_to_give, graph.name);
  names_to_give.expect_all_met("side file or graph");
}

/// Refuses names that the writer would refuse only after it has written all weights. Includes the model's own name
/// among several models.
void check_names(const LoadedModel& model, const ArchiveCompanions& companions) {
  std::vector<std::string_view> names = companions.names();
  std::vector<std::string> own;
  if (model.is_family)
    for (const std::string& name : model_names_of(model.skeleton)) own.push_back(graph_file_name(name));
  names.insert(names.end(), own.begin(), own.end());
  // Names of weights come first. They are names in an archive, so opening it proved them.
  check_entry_names(names, companions.weights.size());
}

}  // namespace

ArchiveCompanions companions_to_save(const LoadedModel& model, const SaveOptions& options,
                                     const std::filesystem::path& output) {
  Gathering gathering(model);
  // In this order, single files take precedence over files of the other archive.
  if (!options.side_files_of.empty()) gathering.add_of(options.side_files_of);
  for (const AddedFile& added : options.add) gathering.add(added);
  ArchiveCompanions companions = std::move(gathering).result();
  base::annotated(output, [&] {
    rename(companions, options.rename);
    companions.remarks = add_variants(companions, model, options.variants);
    // Checks after renaming, which may make a name valid.
    if (options.format == Format::archive) check_names(model, companions);
  });
  return companions;
}

SideFile added_file(const AddedFile& added) {
  if (is_key(added.name)) {
    throw Error(Code::usage_argument,
                base::concat("a side file cannot be named ", base::quoted(added.name),
                             ": C identifiers are keys of tensors; give it an extension"),
                {added.name, std::nullopt}, added.path);
  }
  SideFile side_file{added.name, added.source};
  if (!added.source) {
    // Opens the file now, so that a missing file is reported before the output is opened.
    side_file.source = whole_file(
        [path = added.path] { return std::make_shared<const base::MappedFile>(base::MappedFile::open(path)); });
  }
  if (is_graph_name(added.name)) side_file.source = without_name(std::move(side_file.source));
  return side_file;
}

}  // namespace onnxar
