// Where runtimes look for external data.
#pragma once

#include <cstdint>
#include <vector>

#include "onnx/sites.h"

namespace onnxar {

/// Tells tensors whose external data runtimes read from others: they do not follow links in attributes, except what
/// Constant nodes hold. Asked for each tensor of one walk, in its order: a node is then read once, however many tensors
/// are in it. Not synchronised.
class FollowedLinks {
 public:
  /// Cost: O(depth), and O(fields of the node that holds the tensor) for the first one of each node.
  [[nodiscard]] bool follows(const onnx::TensorSite& site);
  /// How many nodes were read so far.
  [[nodiscard]] std::uint64_t nodes_read() const noexcept { return nodes_read_; }

 private:
  /// What was found of the last node at a depth. Nodes that differ begin at different bytes.
  struct Node {
    std::uint64_t begin = 0;
    bool read = false;
    bool is_constant = false;
  };

  std::vector<Node> nodes_;  // by depth: a node holds tensors before and after those of nodes within it
  std::uint64_t nodes_read_ = 0;
};

}  // namespace onnxar
