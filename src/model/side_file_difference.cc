// Compares the side files of two archives, and verifies the ones that differ.
#include "model/side_file_difference.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "archive/change_detection.h"
#include "archive/keys.h"
#include "onnxar/archive.h"
#include "onnxar/listing.h"

namespace onnxar {
namespace {

using SideBytes = std::map<std::string, Bytes>;  // by name

SideBytes side_files_of(const Archive& archive) {
  SideBytes files;
  for (const ListedEntry& entry : ls(archive).entries) {
    if (entry.kind == EntryKind::side_file || entry.kind == EntryKind::graph) {
      files.emplace(entry.name, archive.bytes(*archive.find(entry.name)));
    }
  }
  return files;
}

}  // namespace

std::vector<FileChange> compare_side_files(const Archive& before, const Archive& after,
                                           const std::set<std::string>& changed_graphs) {
  const SideBytes first = side_files_of(before), second = side_files_of(after);
  std::map<std::string, FileChange> changes;
  for (const auto& [name, bytes] : first) {
    const auto other = second.find(name);
    if (other == second.end()) {
      changes[name] = {Change::removed, name, bytes.size(), 0, 0};
    } else if (is_graph_name(name) ? changed_graphs.contains(name) : !std::ranges::equal(bytes, other->second)) {
      const auto differ = std::ranges::mismatch(bytes, other->second).in1 - bytes.begin();
      changes[name] = {Change::changed, name, bytes.size(), other->second.size(), static_cast<std::uint64_t>(differ)};
    }
  }
  for (const auto& [name, bytes] : second) {
    if (!first.contains(name)) changes[name] = {Change::added, name, 0, bytes.size(), 0};
  }
  std::vector<FileChange> found;
  for (auto& [name, change] : changes) found.push_back(std::move(change));
  return found;
}

void expect_undamaged(const Archive& archive, const Difference& found) {
  std::set<std::string> changed;  // sites of tensors, and names of entries
  for (const TensorChange& tensor : found.tensors) {
    if (tensor.data) changed.insert({tensor.before->site, tensor.after->site});
  }
  for (const FileChange& file : found.files) {
    if (file.change == Change::changed) changed.insert(file.name);
  }
  // Its sites are not those of the model, so all data that it names counts.
  const ArchiveEntry model = archive.model_entry();
  if (model.name != model_entry_name) changed.emplace(model.name);
  archive.verify(model);
  const auto is_changed = [&changed](const std::string& text) { return changed.contains(text); };
  for (const ListedEntry& entry : ls(archive).entries) {
    if (is_changed(entry.name) || std::ranges::any_of(entry.graphs, is_changed) ||
        std::ranges::any_of(entry.tensors, is_changed, &TensorInfo::site)) {
      archive.verify(*archive.find(entry.name));
    }
  }
}

}  // namespace onnxar
