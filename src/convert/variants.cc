// Adds the manifest of its variants to a planned archive.
#include "convert/variants.h"

#include <algorithm>
#include <iterator>
#include <memory>
#include <optional>
#include <utility>

#include "archive/graphs.h"
#include "archive/keys.h"
#include "base/keyed_hash.h"
#include "base/mapped_file.h"
#include "base/sources.h"
#include "convert/model_source.h"
#include "convert/package.h"
#include "convert/package_edit.h"

namespace onnxar {
namespace {

/// Returns the text of a source, up to one byte over the limit of packages.
std::string text_of(const ByteSource& source) {
  std::string text;
  source.read([&text](Bytes piece) { text += as_text(piece).substr(0, Package::most_bytes + 1 - text.size()); });
  return text;
}

std::shared_ptr<const ByteSource> source_of(const std::string& text) {
  const Bytes bytes = as_bytes(text);
  return payload_of(ByteSpan::own({bytes.begin(), bytes.end()})).source;
}

/// Presents the files of an archive as they will be after the additions and removals of an edit.
class EditedFiles {
 public:
  EditedFiles(const Archive& archive, ReplaceOptions& options)
      : archive_(archive), options_(options), removed_(options.remove.begin(), options.remove.end()) {}

  [[nodiscard]] std::optional<std::string> text(const std::string& name) const {
    const auto added = std::ranges::find(options_.add, name, &AddedFile::name);
    if (added != options_.add.end()) {
      if (added->source) return text_of(*added->source);
      const base::MappedFile file = base::MappedFile::open(added->path);
      return std::string(as_text(file.bytes()).substr(0, Package::most_bytes + 1));
    }
    const auto entry = is_removed(name) ? std::nullopt : archive_.find(name);
    if (!entry) return std::nullopt;
    archive_.verify(*entry);
    return std::string(as_text(archive_.bytes(*entry)).substr(0, Package::most_bytes + 1));
  }

  [[nodiscard]] std::vector<std::string> graphs() const {
    std::vector<std::string> names;
    if (const auto own = name_of_model(archive_)) names.push_back(*own + std::string(graph_suffix));
    for (const ArchiveEntry& graph : archive_.graphs())
      if (!is_removed(graph.name)) names.emplace_back(graph.name);
    for (const AddedFile& file : options_.add)
      if (is_graph_name(file.name)) names.push_back(file.name);
    return names;
  }

  void apply(const PackageChanges& changes) {
    for (const auto& [name, text] : changes.files) {
      std::erase_if(options_.add, [&](const AddedFile& file) { return file.name == name; });
      if (text) {
        options_.add.push_back({name, {}, source_of(*text)});
      } else if (archive_.find(name)) {
        options_.remove.push_back(name);
        removed_.insert(name);
      }
    }
  }

 private:
  [[nodiscard]] bool is_removed(std::string_view name) const { return removed_.contains(std::string(name)); }

  const Archive& archive_;
  ReplaceOptions& options_;
  base::KeyedSet<std::string> removed_;
};

}  // namespace

std::vector<Finding> add_variants(ArchiveCompanions& companions, const LoadedModel& model,
                                  const std::vector<GraphVariant>& variants) {
  if (variants.empty()) return {};
  std::vector<std::string> graphs;
  for (const std::string& name : model_names_of(model.skeleton)) graphs.push_back(name + std::string(graph_suffix));
  for (const PlacedGraph& graph : companions.graphs) graphs.push_back(graph.name);
  for (const SideFile& graph : companions.whole_graphs) graphs.push_back(graph.name);
  base::KeyedMap<std::string, SideFile*> files;
  for (SideFile& file : companions.side_files) files.emplace(file.name, &file);
  const auto text = [&](const std::string& name) -> std::optional<std::string> {
    const auto found = files.find(name);
    return found == files.end() ? std::nullopt : std::optional(text_of(*found->second->source));
  };
  PackageChanges changes = with_variants(text, variants, graphs);
  for (const auto& [name, changed] : changes.files) {
    if (const auto found = files.find(name); found != files.end()) {
      found->second->source = source_of(*changed);
    } else {
      companions.side_files.push_back({name, source_of(*changed)});
    }
  }
  return std::move(changes.warnings);
}

ReplaceOptions with_manifest(const Archive& archive, ReplaceOptions options, std::vector<Finding>& remarks) {
  EditedFiles files(archive, options);
  const auto text = [&files](const std::string& name) { return files.text(name); };
  std::vector<std::string> removed;
  for (const std::string& name : options.remove)
    if (is_graph_name(name) && archive.find(name)) removed.push_back(name);
  if (!removed.empty()) files.apply(without_variants(text, removed));
  if (options.variants.empty()) return options;
  PackageChanges changes = with_variants(text, options.variants, files.graphs());
  files.apply(changes);
  std::ranges::move(changes.warnings, std::back_inserter(remarks));
  return options;
}

}  // namespace onnxar
