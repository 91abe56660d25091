#include "diff/file_difference.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string>

#include "archive/keys.h"
#include "archive/opening.h"
#include "base/mapped_file.h"
#include "onnxar/archive.h"
#include "onnxar/listing.h"

namespace onnxar {
namespace {

using SideBytes = std::map<std::string, Bytes>;  // by name

/// Tells an archive by its content, as loading does, never by the file's name.
std::optional<Archive> archive_at(const std::filesystem::path& path, const LoadOptions& load) {
  if (auto archive = open_by_ranges(path, load.open_ranges)) return archive;
  const auto file = base::MappedFile::open(path);
  if (!looks_like_zip(file.bytes())) return std::nullopt;
  return Archive::open(path);
}

SideBytes side_files_of(const Archive& archive, const LoadOptions& load) {
  SideBytes files;
  for (const ListedEntry& entry : ls(archive, load).entries) {
    if (entry.kind == EntryKind::side_file || entry.kind == EntryKind::graph) {
      files.emplace(entry.name, archive.bytes(*archive.find(entry.name)));
    }
  }
  return files;
}

}  // namespace

std::vector<FileChange> compare_side_files(const std::filesystem::path& before, const std::filesystem::path& after,
                                           const LoadOptions& load, const std::set<std::string>& changed_graphs) {
  const auto first_archive = archive_at(before, load);
  const auto second_archive = archive_at(after, load);
  if (!first_archive || !second_archive) return {};
  const SideBytes first = side_files_of(*first_archive, load);
  const SideBytes second = side_files_of(*second_archive, load);
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

}  // namespace onnxar
