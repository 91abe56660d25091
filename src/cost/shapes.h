// Shapes of the values in a graph, as far as they follow from what the model states.
//
// This is no shape inference of ONNX: it knows the operators that lie between those whose multiply-adds are counted,
// and says nothing about others. What value_info states holds wherever it is stated.
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

/// A dimension that is not known.
inline constexpr std::int64_t unknown_dim = -1;
/// Every dimension is 0 or more, or unknown_dim.
using Shape = std::vector<std::int64_t>;

/// Dimensions of a shape, and integers of a tensor that may be one. What has more is not known.
inline constexpr std::size_t most_values = 64;

/// What is known of a value.
struct KnownValue {
  std::optional<Shape> shape;
  /// The elements of a small tensor of integers, such as the shape that Reshape takes.
  std::optional<std::vector<std::int64_t>> integers;
};

/// Attributes of a node; in a function's body some are those of the call.
class Attributes {
 public:
  /// `call` may be null; all must outlive this. Where the budget is spent, an attribute may be missing here that the
  /// node has: what was made of it is to be dropped.
  Attributes(const schema::NodeProto& node, const Attributes* call, Budget& budget)
      : node_(node), call_(call), budget_(budget) {}

  [[nodiscard]] const schema::AttributeProto* find(std::string_view name) const;
  [[nodiscard]] std::int64_t integer(std::string_view name, std::int64_t otherwise) const;
  [[nodiscard]] std::string_view text(std::string_view name) const;
  /// Nothing where it is not there.
  [[nodiscard]] std::optional<std::vector<std::int64_t>> integers(std::string_view name) const;

 private:
  const schema::NodeProto& node_;
  const Attributes* call_;
  Budget& budget_;
};

/// The values of one scope: a graph, a subgraph, a function's body. Names are views of the model.
class Values {
 public:
  /// What a subgraph does not have is looked for in `outer`, if that is not null.
  explicit Values(Budget& budget, const Values* outer = nullptr) : budget_(budget), outer_(outer) {}

  /// Takes in initializers, inputs and value_info, as far as the budget goes.
  void add(const schema::GraphProto& graph);
  void add(const google::protobuf::RepeatedPtrField<schema::ValueInfoProto>& values);
  void set(std::string_view name, KnownValue value);

  /// Nothing is known of a name that is not there.
  [[nodiscard]] const KnownValue& at(std::string_view name) const;
  [[nodiscard]] const std::optional<Shape>& shape(std::string_view name) const { return at(name).shape; }
  /// Whether `name` has a shape without unknown dimensions, as value_info states it or found out before.
  [[nodiscard]] bool is_known(std::string_view name) const;
  [[nodiscard]] Budget& budget() const noexcept { return budget_; }

 private:
  [[nodiscard]] bool pay_for(std::string_view name, std::uint64_t values) const;

  Budget& budget_;
  const Values* outer_;
  base::KeyedMap<std::string_view, KnownValue> values_;
};

/// The number of elements; nothing where a dimension is not known, or there are too many.
[[nodiscard]] std::optional<std::uint64_t> elements(const Shape& shape);

/// These dimensions as a shape: what is negative is not known; nothing where there are more than `most_values`.
[[nodiscard]] std::optional<Shape> shape_of(std::span<const std::int64_t> dims);

/// What a numpy-like broadcast of both has for a shape; nothing where they do not fit.
[[nodiscard]] std::optional<Shape> broadcast(const Shape& a, const Shape& b);

/// What is known of a node's outputs, one each; empty for an operator that is not known, and where the budget is spent.
[[nodiscard]] std::vector<KnownValue> infer(const schema::NodeProto& node, const Attributes& attributes,
                                            const Values& values);

/// The elements of a small tensor of integers that stand in the message.
[[nodiscard]] std::optional<std::vector<std::int64_t>> small_integers(const schema::TensorProto& tensor);

}  // namespace onnxar
