// Finds tensors whose data is shared or overlaps.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "convert/payload.h"
#include "onnxar/bytes.h"
#include "onnxar/error.h"

namespace onnxar {

/// Collects the slices of all tensors, and finds shared and overlapping ones. Identifies a slice by its address,
/// because different names may lead to the same bytes.
class SliceUses {
 public:
  /// Adds the data of `tensor`, at `place` in the graph with this number. Returns the name of an earlier tensor of the
  /// same graph with exactly this slice, or an empty text. Ignores other graphs, because graphs share weights
  /// intentionally. Cost: O(log n).
  std::string add(Bytes slice, const std::string& tensor, const Place& place, std::size_t graph);

  /// Returns one warning for each slice that overlaps an earlier one without being equal to it. Cost: O(n).
  [[nodiscard]] std::vector<Finding> overlaps() const;

 private:
  struct Use {
    std::string tensor;  // tensor of the last graph that has the slice
    Place place;         // place of the first tensor
    std::size_t graph;   // the last graph that has the slice
  };

  std::map<Extent, Use> uses_;
};

}  // namespace onnxar
