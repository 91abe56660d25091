// Reads the nodes around tensors, each once.
#include "convert/followed_links.h"

#include <cstddef>

#include "onnx/operators.h"

namespace onnxar {

bool FollowedLinks::follows(const onnx::TensorSite& site) {
  // The innermost graph or node that holds the tensor decides: an initializer of a graph within a node is not in an
  // attribute tensor of that node.
  std::size_t depth = site.levels.size();
  while (depth > 0 && site.levels[depth - 1].message != onnx::Message::graph &&
         site.levels[depth - 1].message != onnx::Message::node) {
    --depth;
  }
  if (depth == 0 || site.levels[depth - 1].message == onnx::Message::graph) return true;
  if (nodes_.size() < depth) nodes_.resize(depth);
  const onnx::Range range = site.levels[depth - 1].field.value;
  Node& node = nodes_[depth - 1];
  // A node with a million tensors is parsed once, not a million times.
  if (!node.read || node.begin != range.begin) {
    node = {range.begin, true, onnx::is_constant(site.model, range)};
    ++nodes_read_;
  }
  return node.is_constant;
}

}  // namespace onnxar
