// Shapes of the values in a graph, inferred from the shapes that the model states.
//
// This is less than ONNX's shape inference: it knows the operators between those whose multiply-adds are counted, and
// leaves the outputs of others unknown. A shape in value_info is taken as it is.
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

/// An unknown dimension.
inline constexpr std::int64_t unknown_dim = -1;
/// Every dimension is 0 or more, or unknown_dim.
using Shape = std::vector<std::int64_t>;

/// The most dimensions of a shape, and integers of a tensor that may be a shape. Longer ones count as unknown, so that
/// no chain of Concat nodes makes shapes grow without end.
inline constexpr std::size_t most_values = 64;

/// What is known about a value.
struct KnownValue {
  std::optional<Shape> shape;
  /// The elements of a small tensor of integers, such as the shape that Reshape takes.
  std::optional<std::vector<std::int64_t>> integers;
};

/// Attributes of a node. In a function's body, an attribute may refer to one of the call.
class Attributes {
 public:
  /// `call` may be null; all must outlive this. Once the budget is spent, attributes seem to be missing: the caller
  /// must then drop what it concluded.
  Attributes(const schema::NodeProto& node, const Attributes* call, Budget& budget)
      : node_(node), call_(call), budget_(budget) {}

  [[nodiscard]] const schema::AttributeProto* find(std::string_view name) const;
  [[nodiscard]] std::int64_t integer(std::string_view name, std::int64_t otherwise) const;
  [[nodiscard]] std::string_view text(std::string_view name) const;
  /// Empty if the attribute does not exist.
  [[nodiscard]] std::optional<std::vector<std::int64_t>> integers(std::string_view name) const;

 private:
  const schema::NodeProto& node_;
  const Attributes* call_;
  Budget& budget_;
};

/// The values of one scope: a graph, a subgraph or a function's body. Names are views of the model.
class Values {
 public:
  /// Names that a subgraph does not define are looked up in `outer`, which may be null.
  explicit Values(Budget& budget, const Values* outer = nullptr) : budget_(budget), outer_(outer) {}

  /// Adds initializers, inputs and value_info, as far as the budget goes.
  void add(const schema::GraphProto& graph);
  void add(const google::protobuf::RepeatedPtrField<schema::ValueInfoProto>& values);
  void set(std::string_view name, KnownValue value);

  /// An empty value if the name does not exist.
  [[nodiscard]] const KnownValue& at(std::string_view name) const;
  [[nodiscard]] const std::optional<Shape>& shape(std::string_view name) const { return at(name).shape; }
  /// Whether the shape of `name` is known, with all dimensions.
  [[nodiscard]] bool is_known(std::string_view name) const;
  [[nodiscard]] Budget& budget() const noexcept { return budget_; }

 private:
  [[nodiscard]] bool pay_for(std::string_view name, std::uint64_t values) const;

  Budget& budget_;
  const Values* outer_;
  base::KeyedMap<std::string_view, KnownValue> values_;
};

/// The number of elements. Empty if a dimension is unknown, or the product exceeds 64 bits.
[[nodiscard]] std::optional<std::uint64_t> elements(const Shape& shape);

/// These dimensions as a shape; negative ones become unknown. Empty if there are more than `most_values`.
[[nodiscard]] std::optional<Shape> shape_of(std::span<const std::int64_t> dims);

/// The shape of a NumPy-like broadcast of both. Empty if they do not fit.
[[nodiscard]] std::optional<Shape> broadcast(const Shape& a, const Shape& b);

/// One value for each output of a node. Empty for an unknown operator, and once the budget is spent.
[[nodiscard]] std::vector<KnownValue> infer(const schema::NodeProto& node, const Attributes& attributes,
                                            const Values& values);

/// The elements of a small tensor of integers whose data is in the message.
[[nodiscard]] std::optional<std::vector<std::int64_t>> small_integers(const schema::TensorProto& tensor);

}  // namespace onnxar
