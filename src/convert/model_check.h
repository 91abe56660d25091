// Makes the findings of `check` in a model and its graphs: tensors, links, and unused entries.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "convert/model_source.h"
#include "convert/open.h"
#include "onnxar/convert.h"
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

/// Adds the findings in all tensors of the model and of the other graphs, and in their use of the archive. Returns true
/// if the model could be read to its end. Throws io.*. Cost: O(model + graphs); with `options.data` also the bytes that
/// have a checksum.
bool check_graphs(ModelSource& source, const CheckOptions& options, std::vector<Finding>& findings);

/// Throws the first error that `check` without `data` finds in the archive and its model, for readers that must refuse
/// a faulty archive. Does not check other graphs, overlaps and unused entries. Costs as much as `check`.
void refuse_faults(ArchiveSource& source, const LoadOptions& options);

}  // namespace onnxar
