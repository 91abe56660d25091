// Shapes of the values in a graph, inferred from the shapes that the model states.
//
// This covers less than ONNX's shape inference: it knows the operators that usually connect those whose multiply-adds
// are counted. Outputs of other operators are unknown. Shapes in value_info are trusted.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/keyed_hash.h"
#include "cost/budget.h"
#include "onnxar/onnx.pb.h"

namespace onnxar {

/// The domain into which ONNX Runtime's optimizer puts fused operators. Names that ONNX also has mean the same there.
inline constexpr std::string_view fused_domain = "com.microsoft";

/// An unknown dimension.
inline constexpr std::int64_t unknown_dim = -1;
/// Every dimension is 0 or more, or unknown_dim.
using Shape = std::vector<std::int64_t>;

/// The limit for dimensions of a shape, and for integers of a tensor that may be a shape. Longer ones count as unknown,
/// so that a chain of Concat nodes cannot grow shapes without a limit.
inline constexpr std::size_t most_values = 64;

/// Sizes for named dimensions, or for those without a name by `input[0]`, and values of inputs that are one integer.
using Bindings = base::KeyedMap<std::string_view, std::int64_t>;

/// The known facts about a value.
struct KnownValue {
  std::optional<Shape> shape;
  /// The elements of a small tensor of integers, such as the shape that Reshape takes, or of another type (floats,
  /// bool as 0 and 1) if all are integers.
  std::optional<std::vector<std::int64_t>> integers;
};

/// The attributes of a node. In a function's body, an attribute may refer to one of the call.
class Attributes {
 public:
  /// `call` may be null. All arguments must outlive this object. After the budget is spent, attributes appear to be
  /// missing, so the caller must discard its results.
  Attributes(const schema::NodeProto& node, const Attributes* call, Budget& budget)
      : node_(node), call_(call), budget_(budget) {}

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
  /// Looks up names that a subgraph does not define in `outer`, which may be null. The outermost graph has the
  /// bindings; they may be null.
  explicit Values(Budget& budget, const Values* outer = nullptr, const Bindings* bindings = nullptr)
      : budget_(budget), outer_(outer), bindings_(outer != nullptr ? outer->bindings_ : bindings) {}

  /// Adds initializers, inputs and value_info, as far as the budget goes.
  void add(const schema::GraphProto& graph);
  void add(const google::protobuf::RepeatedPtrField<schema::ValueInfoProto>& values);
  void set(std::string_view name, KnownValue value);

  /// Returns an empty value if the name does not exist.
  [[nodiscard]] const KnownValue& at(std::string_view name) const;
  [[nodiscard]] const std::optional<Shape>& shape(std::string_view name) const { return at(name).shape; }
  /// Whether the shape of `name` is known, with all dimensions.
  [[nodiscard]] bool is_known(std::string_view name) const;
  [[nodiscard]] Budget& budget() const noexcept { return budget_; }

 private:
  [[nodiscard]] bool pay_for(std::string_view name, std::uint64_t values) const;

  Budget& budget_;
  [[nodiscard]] std::int64_t bound(const schema::TensorShapeProto_Dimension& dim) const;
  [[nodiscard]] std::optional<Shape> stated_shape(const schema::TensorShapeProto& shape) const;
  void bind_inputs(const schema::GraphProto& graph);

  const Values* outer_;
  const Bindings* bindings_;  // null for none
  base::KeyedMap<std::string_view, KnownValue> values_;
};

/// Returns the number of elements. Empty if a dimension is unknown, or the product exceeds 64 bits.
[[nodiscard]] std::optional<std::uint64_t> elements(const Shape& shape);

/// Returns the dimensions as a shape, in which negative ones are unknown. Empty for more than `most_values` dimensions.
[[nodiscard]] std::optional<Shape> shape_of(std::span<const std::int64_t> dims);

/// Returns the shape of a broadcast by NumPy's rules. Empty if the shapes are incompatible.
[[nodiscard]] std::optional<Shape> broadcast(const Shape& a, const Shape& b);

/// Returns one value for each output of a node. Empty for an unknown operator, and after the budget is spent.
[[nodiscard]] std::vector<KnownValue> infer(const schema::NodeProto& node, const Attributes& attributes,
                                            const Values& values);

/// Returns the elements of a small tensor of integers. Empty if its data is outside the message.
[[nodiscard]] std::optional<std::vector<std::int64_t>> small_integers(const schema::TensorProto& tensor);

}  // namespace onnxar
