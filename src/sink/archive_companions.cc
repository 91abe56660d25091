#include "sink/archive_companions.h"

namespace onnxar {

std::vector<std::string_view> ArchiveCompanions::names() const {
  std::vector<std::string_view> names;
  for (const ArchiveEntry& weight : weights) names.push_back(weight.name);
  for (const SideFile& file : side_files) names.push_back(file.name);
  for (const PlacedGraph& graph : graphs) names.push_back(graph.name);
  for (const SideFile& graph : whole_graphs) names.push_back(graph.name);
  return names;
}

}  // namespace onnxar
