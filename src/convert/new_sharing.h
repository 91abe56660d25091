// Finds tensors of a new model that begin to share data of an archive: a sign that the model was merged from two
// archives.
#pragma once

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "onnx/external_data.h"
#include "onnx/sites.h"
#include "onnxar/archive.h"
#include "onnxar/bytes.h"
#include "onnxar/error.h"

namespace onnxar {

/// Compares how many tensors use a range of an entry before and after an edit. Archives of similar models have entries
/// with the same names, so a graph that was merged from two of them uses data of one archive for both.
class NewSharing {
 public:
  /// Notes a tensor of the new model that links to an entry of the archive.
  void note(const onnx::TensorSite& site, const onnx::ExternalLink& link);

  /// Notes all tensors of a new graph that use data of the archive. Throws wire.* and onnx.*.
  void note_all(Bytes graph);

  /// Adds a warning (archive.entry.shared) to `remarks` if more tensors use some range than in all graphs of `archive`
  /// before. Tensors of the same name count once. Cost: O(model + graphs) if any range has several tensors.
  void warn(const Archive& archive, std::vector<Finding>& remarks) const;

 private:
  using Range = std::pair<std::string, std::string>;  // the entry and the offset, as in a link

  /// Returns the range of a tensor with external data.
  static std::optional<Range> range_of(const onnx::TensorView& tensor);

  std::map<Range, std::set<std::string>> names_;  // names of the tensors
};

}  // namespace onnxar
