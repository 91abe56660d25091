// Which tensors runtimes read external data for.
#pragma once

#include <cstdint>
#include <vector>

#include "onnx/sites.h"

namespace onnxar {

/// Says whether runtimes read a tensor's external data: they do not follow links in attributes, except those of
/// Constant nodes. It must be called for each tensor of one walk, in order; then a node is read once, however many
/// tensors it has. Not synchronised.
class FollowedLinks {
 public:
  /// Cost: O(depth), and O(fields of the node that holds the tensor) for the first one of each node.
  [[nodiscard]] bool follows(const onnx::TensorSite& site);
  /// The number of nodes read so far.
  [[nodiscard]] std::uint64_t nodes_read() const noexcept { return nodes_read_; }

 private:
  /// The result for the last node at each depth. Different nodes begin at different bytes.
  struct Node {
    std::uint64_t begin = 0;
    bool read = false;
    bool is_constant = false;
  };

  std::vector<Node> nodes_;  // by depth: a node holds tensors before and after those of nodes within it
  std::uint64_t nodes_read_ = 0;
};

}  // namespace onnxar
