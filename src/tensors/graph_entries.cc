#include "tensors/graph_entries.h"

#include "archive/keys.h"

namespace onnxar {

std::vector<ArchiveEntry> graph_entries(const Archive& archive) {
  std::vector<ArchiveEntry> found;
  for (std::size_t i = 0; i + 1 < archive.size(); ++i) {
    if (is_graph_name(archive.entry(i).name)) found.push_back(archive.entry(i));
  }
  return found;
}

}  // namespace onnxar
