// Names and measures the side files and graphs that are saved with a model, and limits their folders.
#include "convert/companions.h"

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "base/sources.h"
#include "base/text.h"
#include "convert/model_source.h"

namespace onnxar {

std::vector<std::string_view> ArchiveCompanions::names() const {
  std::vector<std::string_view> names;
  for (const SideFile& weight : weights) names.push_back(weight.name);
  for (const SideFile& file : side_files) names.push_back(file.name);
  for (const PlacedGraph& graph : graphs) names.push_back(graph.name);
  for (const SideFile& graph : whole_graphs) names.push_back(graph.name);
  return names;
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
  std::string_view before,
      beyond;                                  // `beyond` needs the first folder over the limit
  for (const std::string_view name : names) {  // names are sorted, so common folders count once
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

std::optional<Finding> remark_on_folders(const std::vector<SideFile>& files) {
  try {
    check_folders(files, {});
    return std::nullopt;
  } catch (const Error& error) {
    Finding finding = error.finding();
    finding.severity = Severity::warning;
    finding.message += "; `unpack` and `link` refuse to make these folders, `unzip` does not";
    finding.advice = {};
    return finding;
  }
}

}  // namespace onnxar
