// Adds the manifest of its variants to a planned archive.
#include "convert/variants.h"

#include <algorithm>
#include <iterator>
#include <memory>
#include <optional>
#include <utility>

#include "archive/graph_rules.h"
#include "archive/graphs.h"
#include "archive/keys.h"
#include "base/kept.h"
#include "base/keyed_hash.h"
#include "base/mapped_file.h"
#include "base/sources.h"
#include "convert/model_source.h"
#include "convert/package.h"
#include "convert/package_edit.h"
#include "convert/package_files.h"

namespace onnxar {
namespace {

/// Presents the files of an archive as they will be after the additions and removals of an edit.
class EditedFiles {
 public:
  EditedFiles(base::Kept<const Archive> archive, base::Kept<ReplaceOptions> options)
      : archive_(archive), options_(options), removed_(options_.remove.begin(), options_.remove.end()) {}

  [[nodiscard]] std::optional<std::string> text(const std::string& name) const {
    const auto added = std::ranges::find(options_.add, name, &AddedFile::name);
    if (added != options_.add.end()) {
      if (added->source) return package_text(*added->source);
      const base::MappedFile file = base::MappedFile::open(added->path);
      return std::string(as_text(file.bytes()).substr(0, Package::most_bytes + 1));
    }
    return is_removed(name) ? std::nullopt : package_text(archive_, name);
  }

  [[nodiscard]] std::vector<std::string> graphs() const {
    std::vector<std::string> names;
    if (auto own = file_of_graph(archive_, own_model_entry(archive_))) names.push_back(std::move(*own));
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
        options_.add.push_back({name, {}, package_source(*text)});
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
  PackageFiles files(companions.side_files);
  PackageChanges changes = with_variants([&](const std::string& name) { return files.text(name); }, variants, graphs);
  files.apply(changes);
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
