// Shapes of the values in a graph, inferred from the shapes that the model states.
//
// This covers less than ONNX's shape inference: it knows the operators that usually connect the operators whose
// multiply-adds are counted. Outputs of other operators are unknown. Shapes in value_info are trusted.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/kept.h"
#include "base/keyed_hash.h"
#include "inspect/budget.h"
#include "inspect/open_dimensions.h"
#include "inspect/size.h"
#include "onnxar/onnx.pb.h"

namespace onnxar {

/// The domain into which ONNX Runtime's optimizer puts fused operators. Names that ONNX also has mean the same there.
inline constexpr std::string_view fused_domain = "com.microsoft";

/// The known facts about a value.
struct KnownValue {
  std::optional<Shape> shape;
  /// The elements of a small tensor of integers, such as the shape that Reshape takes, or of another type (floats,
  /// bool as 0 and 1) if all are integers. None is unknown.
  std::optional<std::vector<Size>> integers;
};

/// The attributes of a node. In a function's body, an attribute may refer to one of the call.
class Attributes {
 public:
  /// `call` may be null. After the budget is spent, attributes appear to be missing, so the caller must discard its
  /// results.
  Attributes(base::Kept<const schema::NodeProto> node, const Attributes* call, base::Kept<Budget> budget)
      : node_(node), call_(call), budget_(budget) {}

  [[nodiscard]] const schema::NodeProto& node() const noexcept { return node_; }
  [[nodiscard]] const schema::AttributeProto* find(std::string_view name) const;
  [[nodiscard]] std::int64_t integer(std::string_view name, std::int64_t otherwise) const;
  [[nodiscard]] std::string_view text(std::string_view name) const;
  /// Returns an empty optional if the attribute does not exist.
  [[nodiscard]] std::optional<std::vector<std::int64_t>> integers(std::string_view name) const;

 private:
  const schema::NodeProto& node_;
  const Attributes* call_;
  Budget& budget_;
};

/// The values of one scope: a graph, a subgraph or a function's body. Names are views of the model.
class Values {
 public:
  /// Looks up names that a subgraph does not define in `outer`, which may be null.
  Values(base::Kept<Budget> budget, base::Kept<OpenDimensions> open, const Values* outer = nullptr)
      : budget_(budget), open_(open), outer_(outer) {}

  /// Adds initializers, inputs and value_info, as far as the budget goes.
  void add(const schema::GraphProto& graph);
  void add(const google::protobuf::RepeatedPtrField<schema::ValueInfoProto>& values);
  void set(std::string_view name, KnownValue value);

  /// Returns an empty value if the name does not exist.
  [[nodiscard]] const KnownValue& at(std::string_view name) const;
  [[nodiscard]] Budget& budget() const noexcept { return budget_; }
  [[nodiscard]] OpenDimensions& open() const noexcept { return open_; }

 private:
  [[nodiscard]] bool pay_for(std::string_view name, std::uint64_t values) const;
  [[nodiscard]] std::optional<Shape> stated_shape(const schema::TensorShapeProto& shape) const;
  void bind_inputs(const schema::GraphProto& graph);

  Budget& budget_;
  OpenDimensions& open_;
  const Values* outer_;
  base::KeyedMap<std::string_view, KnownValue> values_;
};

/// Returns the number of elements. Unknown if a dimension is, or the product exceeds 63 bits.
[[nodiscard]] Size elements(const Shape& shape);

/// Returns the dimensions as a shape, in which negative ones are unknown. Empty for more than `most_values` dimensions.
[[nodiscard]] std::optional<Shape> shape_of(std::span<const std::int64_t> dims);
[[nodiscard]] std::optional<Shape> shape_of(Shape dims);

/// Returns the shape of a broadcast by NumPy's rules. Empty if the shapes are incompatible.
[[nodiscard]] std::optional<Shape> broadcast(const Shape& a, const Shape& b);

/// Returns the elements of a small tensor of integers. Empty if its data is outside the message.
[[nodiscard]] std::optional<std::vector<Size>> small_integers(const schema::TensorProto& tensor);

}  // namespace onnxar
