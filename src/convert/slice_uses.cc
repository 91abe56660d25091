// Compares slices by address, in the order of their addresses.
#include "convert/slice_uses.h"

#include <cstdint>

#include "base/text.h"

namespace onnxar {

std::string SliceUses::add(Bytes slice, const std::string& tensor, const Place& place, std::size_t graph) {
  if (slice.empty()) return {};
  const auto [known, added] = uses_.try_emplace(Extent(slice), Use{tensor, place, graph});
  Use& use = known->second;
  if (added) return {};
  // Only the last graph must be compared, because graphs are checked one by one.
  if (use.graph == graph) return use.tensor;
  use.tensor = tensor;
  use.graph = graph;
  return {};
}

std::vector<Finding> SliceUses::overlaps() const {
  // In order of address, each slice is compared only with the earlier slice that ends last. That finds every slice that
  // overlaps an earlier one in linear time; comparing all pairs would be quadratic.
  std::vector<Finding> found;
  std::uintptr_t farthest = 0;
  const Use* before = nullptr;
  for (const auto& [slice, use] : uses_) {
    if (before != nullptr && slice.begin() < farthest) {  // R3
      found.push_back({Severity::warning, Code::archive_entry_overlapping_links, use.place,
                       base::concat(use.tensor, ": its data overlaps that of ", before->tensor)});
    }
    if (slice.end() > farthest) {
      farthest = slice.end();
      before = &use;
    }
  }
  return found;
}

}  // namespace onnxar
