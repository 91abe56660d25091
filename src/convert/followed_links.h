// Determines which links runtimes follow.
#pragma once

#include <cstdint>
#include <vector>

#include "onnx/sites.h"

namespace onnxar {

/// Determines if runtimes read a tensor's external data: they do not follow links in attributes, except in those of
/// Constant nodes. Must be called for each tensor of one walk, in order, so that a node is read once, however many
/// tensors it has. Not synchronised.
class FollowedLinks {
 public:
  /// True if runtimes follow the link of this tensor. Cost: O(depth), and O(fields of the node) for the first tensor of
  /// each node.
  [[nodiscard]] bool follows(const onnx::TensorSite& site);
  /// Returns the number of nodes read so far.
  [[nodiscard]] std::uint64_t nodes_read() const noexcept { return nodes_read_; }

 private:
  /// Holds the result for the last node at a depth. Different nodes begin at different bytes.
  struct Node {
    std::uint64_t begin = 0;
    bool read = false;
    bool is_constant = false;
  };

  std::vector<Node> nodes_;  // by depth: a node holds tensors before and after those of nodes within it
  std::uint64_t nodes_read_ = 0;
};

}  // namespace onnxar
