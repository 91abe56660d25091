// The findings of `check` in a model and its further graphs: tensors, links, and unused entries.
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

/// Collects the slices of all tensors, and finds those that tensors share and those that overlap. A slice is identified
/// by its address, because different names may lead to the same bytes.
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

/// Adds the findings in all tensors of the model and of the further graphs, and in how these use the archive.
/// Returns whether the model could be read to its end. Errors: io.*. Cost: O(model + graphs); with `options.data` also
/// the bytes that have a checksum.
bool check_graphs(ModelSource& source, const CheckOptions& options, std::vector<Finding>& findings);

/// Throws the first error that `check` without `data` finds in the archive and its model, for readers that must refuse
/// a faulty archive: without further graphs, overlaps and unused entries. Cost: as `check`.
void refuse_faults(ArchiveSource& source, const LoadOptions& options);

}  // namespace onnxar
