// Reads the files of a package out of an archive or its side files, and chooses graphs by the names of variants.
#include "convert/package_files.h"

#include <algorithm>
#include <utility>

#include "archive/graphs.h"
#include "archive/keys.h"
#include "base/kept.h"
#include "convert/package.h"
#include "onnxar/error.h"

namespace onnxar {
namespace {

/// Returns the graphs of all variants of this name.
std::vector<std::string> graphs_of(const Archive& archive, const std::string& variant) {
  const Package package = Package::read([&archive](const std::string& file) { return package_text(archive, file); });
  std::vector<std::string> graphs;
  for (const Package::Component& component : package.components()) {
    for (const Package::Variant& each : component.list) {
      if (each.name == variant && !each.graph.empty()) graphs.push_back(each.graph);
    }
  }
  return graphs;
}

/// Stands for a text over the limit of packages, which is not read.
std::string too_long() { return std::string(Package::most_bytes + 1, ' '); }

}  // namespace

std::string package_text(const ByteSource& source) {
  if (source.size() > Package::most_bytes) return too_long();
  std::string text;
  source.read([&text](Bytes piece) { text += as_text(piece); });
  return text;
}

std::optional<std::string> package_text(const Archive& archive, const std::string& name) {
  const auto entry = archive.find(name);
  if (!entry) return std::nullopt;
  if (entry->size > Package::most_bytes) return too_long();
  archive.verify(*entry);
  return std::string(as_text(archive.bytes(*entry)));
}

std::shared_ptr<const ByteSource> package_source(const std::string& text) {
  const Bytes bytes = as_bytes(text);
  return payload_of(ByteSpan::own({bytes.begin(), bytes.end()})).source;
}

PackageFiles::PackageFiles(base::Kept<std::vector<SideFile>> files) : files_(files) {
  for (std::size_t i = 0; i < files_.size(); ++i) places_.emplace(files_[i].name, i);
}

std::optional<std::string> PackageFiles::text(const std::string& name) const {
  const auto found = places_.find(name);
  return found == places_.end() ? std::nullopt : std::optional(package_text(*files_[found->second].source));
}

void PackageFiles::apply(const PackageChanges& changes) {
  for (const auto& [name, text] : changes.files) {
    if (!text) continue;
    if (const auto found = places_.find(name); found != places_.end()) {
      files_[found->second].source = package_source(*text);
    } else {
      files_.push_back({name, package_source(*text)});
    }
  }
  std::erase_if(files_, [&changes](const SideFile& file) {
    const auto change = changes.files.find(file.name);
    return change != changes.files.end() && !change->second;
  });
}

std::vector<ArchiveEntry> chosen_graphs(const Archive& archive, const LoadOptions& options) {
  std::vector<ArchiveEntry> chosen;
  if (options.graph.empty() && options.further_graphs.empty()) return chosen;
  if (options.graph.empty()) throw Error(Code::usage_argument, "further graphs were named, but no first one");
  const auto add = [&](const std::string& name) {
    const Archive view = archive.graph(name);
    const ArchiveEntry entry = archive.entry(view.model_entry().index);
    if (std::ranges::find(chosen, entry.index, &ArchiveEntry::index) != chosen.end()) return;
    if (!chosen.empty() && !file_of_graph(archive, entry))
      throw Error(Code::usage_argument, "the model has no name, so of several graphs it can only be the first", {},
                  archive.path());
    chosen.push_back(entry);
  };
  std::vector<std::string> names = options.further_graphs;
  names.insert(names.begin(), options.graph);
  for (const std::string& name : names) {
    std::vector<std::string> graphs = find_graph(archive, name) ? std::vector<std::string>() : graphs_of(archive, name);
    if (graphs.empty()) graphs.push_back(name);
    std::ranges::for_each(graphs, add);
  }
  return chosen;
}

void keep_variants(std::vector<SideFile>& side_files, const Archive& archive, std::span<const ArchiveEntry> chosen) {
  std::vector<std::string> removed;
  for (std::size_t i = 0; i < archive.size(); ++i) {
    const ArchiveEntry entry = archive.entry(i);
    const bool is_one = is_graph_name(entry.name) || entry.name == model_entry_name;
    if (!is_one || std::ranges::find(chosen, i, &ArchiveEntry::index) != chosen.end()) continue;
    if (auto file = file_of_graph(archive, entry)) removed.push_back(std::move(*file));
  }
  PackageFiles files(side_files);
  files.apply(without_variants([&files](const std::string& name) { return files.text(name); }, removed));
}

}  // namespace onnxar
