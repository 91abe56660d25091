#include "sink/gather.h"

#include <cstddef>
#include <string>
#include <utility>

#include "archive/entry_source.h"
#include "archive/keys.h"
#include "base/errors.h"
#include "base/keyed_hash.h"
#include "base/mapped_file.h"
#include "base/text.h"
#include "sink/side_files.h"
#include "tensors/archive_walk.h"
#include "tensors/entry_uses.h"

namespace onnxar {
namespace {

/// Files by name, in the order in which their names were added first.
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

/// Collects the entries besides the weights: from the model, from one more archive and from single files.
class Gathering {
 public:
  explicit Gathering(const LoadedModel& model) : model_(model), side_files_(model.side_files), graphs_({}) {
    for (const LoadedGraph& graph : model.graphs) own_.insert(graph.name);
  }

  /// Adds the entries of the archive at `path`. A file that is not a zip has no side files, so it adds nothing.
  void add_of(const std::filesystem::path& path) {
    const base::MappedFile file = base::MappedFile::open(path);
    if (!looks_like_zip(file.bytes())) return;
    try {
      add_of(std::make_shared<const Archive>(Archive::open(path)));
    } catch (const Error& error) {
      throw Error(
          error.code(),
          base::concat(error.message(), "; its side files and graphs, which the output should get, cannot be read"),
          error.finding().place, error.path(), error.advice());
    }
  }

  /// Adds a file, or puts it in place of one of the same name that was not added by this. Errors: usage.argument.
  void add(const AddedFile& added) {
    if (!added_.insert(added.name).second) {
      throw Error(Code::usage_argument, "two files are added under this name; give one of them another name",
                  {added.name, std::nullopt}, added.path);
    }
    (is_graph_name(added.name) ? graphs_ : side_files_).add_or_replace(added_file(added));
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
    // Entry kinds follow from all graphs, but only the weights of graphs that are copied are needed.
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
      if (kind == EntryKind::weight && uses.is_named(i)) companions_.weights.push_back(entry);
      if (kind != EntryKind::weight && uses.is_named(i)) refuse_link_to(entry, archive->path());
    }
    companions_.archive = std::move(archive);
  }

  /// Whether a graph is copied: the model is a different one, and its own graphs take precedence.
  [[nodiscard]] bool goes_along(std::string_view graph) const {
    return graph != model_entry_name && !own_.contains(graph);
  }

  static SideFile file_of(const std::shared_ptr<const Archive>& archive, const ArchiveEntry& entry) {
    auto source = std::make_shared<EntrySource>(*archive, entry);
    // The source keeps the archive mapped: it is read only when the output is written.
    return {std::string(entry.name), std::make_shared<OwnedSource>(std::move(source), archive)};
  }

  /// The new archive has a different model, and may have a different graph of this name.
  [[noreturn]] static void refuse_link_to(const ArchiveEntry& graph, const std::filesystem::path& archive) {
    throw Error(
        Code::onnx_external_missing,
        "a graph that should be copied has a tensor in the bytes of this model or graph, which the new archive may "
        "replace",
        {std::string(graph.name), graph.header_offset}, archive, {Hint::pack_own_data});
  }

  const LoadedModel& model_;
  ArchiveCompanions companions_;
  NamedFiles side_files_;
  NamedFiles graphs_;
  base::KeyedSet<std::string> own_;    // names of the model's graphs
  base::KeyedSet<std::string> added_;  // names of added files
};

}  // namespace

ArchiveCompanions companions_to_save(const LoadedModel& model, const SaveOptions& options,
                                     const std::filesystem::path& output) {
  Gathering gathering(model);
  // In this order, single files take precedence over those of the other archive.
  if (!options.side_files_of.empty()) gathering.add_of(options.side_files_of);
  for (const AddedFile& added : options.add) gathering.add(added);
  ArchiveCompanions companions = std::move(gathering).result();
  const auto in_output = [&output] { return base::Annotation{.path = output}; };
  base::annotated(in_output, [&] {
    rename(companions, options.rename);
    // After renaming, which may be what makes a name possible.
    if (options.format == Format::archive) check_names(companions);
  });
  return companions;
}

}  // namespace onnxar
