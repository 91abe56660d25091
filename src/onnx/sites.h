// Finds every tensor of a model, and the place of each.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "onnx/site_text.h"
#include "onnx/tensor_view.h"
#include "onnx/wire.h"
#include "onnxar/bytes.h"

namespace onnxar::onnx {

/// The kind of a tensor's place. Kinds are distinguished where the rules for moving data out differ (W8).
enum class SiteKind : std::uint8_t {
  initializer,       ///< of a graph or subgraph, also in a function body
  attribute,         ///< `t` or `tensors` of a node
  sparse_values,     ///< values of a sparse initializer or attribute
  sparse_indices,    ///< indices of these, which are never moved out
  function_default,  ///< anything beneath FunctionProto.attribute_proto
  training,          ///< anything beneath ModelProto.training_info
};

/// A tensor and its place. Valid only during the visit.
struct TensorSite {
  const TensorView& tensor;
  SiteKind kind;
  std::span<const Level> levels;  ///< from the model's child down to the tensor
  Bytes model;

  [[nodiscard]] std::string path() const { return path_of(levels); }
  /// True if it is in a graph that an attribute of a node holds, such as a branch of an If.
  [[nodiscard]] bool is_in_subgraph() const noexcept;
  /// True if it is an initializer of the model's graph itself.
  [[nodiscard]] bool is_main_initializer() const noexcept;
  /// Returns the output of the Constant node that has the tensor as its value; empty if no such node has it. Cost:
  /// O(fields of the node), so a walk that asks each tensor stays linear.
  [[nodiscard]] std::string_view constant_output() const noexcept;
};

/// Visits every tensor of the serialised ModelProto, in wire order. Does not touch the bytes of raw data. Throws
/// wire.*, onnx.model.invalid (no graph) or what `read_tensor` throws; offsets in errors count from the model's first
/// byte. Cost: O(number of fields).
void walk_tensors(Bytes model, const std::function<void(const TensorSite&)>& visit);

/// Visits every graph and function of the model before its contents, with the levels from the model's child down to it.
/// Throws what `walk_tensors` throws, except errors of tensors.
void walk_graphs(Bytes model, const std::function<void(std::span<const Level>)>& visit);

}  // namespace onnxar::onnx
