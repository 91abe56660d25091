// Finds slices of data that tensors share, and slices that overlap.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "onnxar/bytes.h"
#include "onnxar/error.h"
#include "source/payload.h"

namespace onnxar {

/// Collects the slices of all tensors. A slice is identified by its address, because different names may lead to the
/// same bytes.
class SliceUses {
 public:
  /// Adds the data of `tensor`, at `place` in the graph with this number. Returns the tensor of the same graph that has
  /// exactly this slice already, or an empty text. Graphs share weights by intent, so other graphs do not count.
  /// Cost: O(log n).
  std::string add(Bytes slice, const std::string& tensor, const Place& place, std::size_t graph);

  /// One warning per slice that overlaps an earlier one without being equal to it. Cost: O(n).
  [[nodiscard]] std::vector<Finding> overlaps() const;

 private:
  struct Use {
    std::string tensor;  // of the last graph that has one
    Place place;         // of the first tensor
    std::size_t graph;   // the last one
  };

  std::map<Extent, Use> uses_;
};

}  // namespace onnxar
