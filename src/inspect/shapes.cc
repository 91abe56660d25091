// Keeps the shapes of a graph's values, and broadcasts shapes.
#include "inspect/shapes.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <type_traits>

#include "base/checked.h"
#include "base/little_endian.h"
#include "model/messages.h"

namespace onnxar {
namespace {

std::span<const std::int64_t> integers_of(const google::protobuf::RepeatedField<std::int64_t>& list) {
  return {list.data(), static_cast<std::size_t>(list.size())};
}

/// Returns the `count` elements of a tensor, from raw data of type `T`, whose bits are `Bits`, or from `list`. Empty if
/// there are more or fewer, or if one is not an integer, or beyond those that `float` has exactly.
template <typename T, typename Bits, typename List>
std::optional<std::vector<Size>> numbers(const schema::TensorProto& tensor, const List& list, std::size_t count) {
  const std::string& raw = tensor.raw_data();
  const bool is_raw = tensor.has_raw_data();
  // Before the copy: the data may be long.
  if (is_raw ? raw.size() != count * sizeof(T) : static_cast<std::size_t>(list.size()) != count) return std::nullopt;
  std::vector<Size> values;
  for (std::size_t i = 0; i < count; ++i) {
    const auto number =
        is_raw ? std::bit_cast<T>(base::load<Bits>(as_bytes(raw), i * sizeof(T))) : list[static_cast<int>(i)];
    if constexpr (std::is_floating_point_v<T>) {
      constexpr T largest = 1U << 24U;
      if (!(std::abs(number) <= largest) || number != std::trunc(number)) return std::nullopt;
    }
    values.emplace_back(static_cast<std::int64_t>(number));
  }
  return values;
}

KnownValue known(const schema::TensorProto& tensor) { return {shape_of(dims_of(tensor)), small_integers(tensor)}; }

/// Empty if the sizes are incompatible.
std::optional<Size> broadcast_dim(const Size& x, const Size& y) {
  if (x == y || y == 1) return x;
  if (x == 1) return y;
  // One of them may be 1 without being known as 1. A number is therefore the result, whatever the other is.
  if (x.number() && y.number()) return std::nullopt;
  if (x.number()) return x;
  return y.number() ? y : Size();
}

}  // namespace

std::optional<std::vector<Size>> small_integers(const schema::TensorProto& tensor) {
  const auto dims = shape_of(dims_of(tensor));
  const auto product = dims ? elements(*dims).number() : std::nullopt;
  if (!product || *product > static_cast<std::int64_t>(most_values)) return std::nullopt;
  const auto count = static_cast<std::size_t>(*product);
  switch (type_of(tensor)) {
    case DataType::int64: return numbers<std::int64_t, std::uint64_t>(tensor, tensor.int64_data(), count);
    case DataType::int32: return numbers<std::int32_t, std::uint32_t>(tensor, tensor.int32_data(), count);
    case DataType::boolean: return numbers<std::uint8_t, std::uint8_t>(tensor, tensor.int32_data(), count);
    case DataType::float32: return numbers<float, std::uint32_t>(tensor, tensor.float_data(), count);
    case DataType::float64: return numbers<double, std::uint64_t>(tensor, tensor.double_data(), count);
    default: return std::nullopt;
  }
}

const schema::AttributeProto* Attributes::find(std::string_view name) const {
  if (!budget_.spend(static_cast<std::uint64_t>(node_.attribute_size()) * Budget::of_name(name.size()))) return nullptr;
  for (const auto& attribute : node_.attribute()) {
    if (attribute.name() != name) continue;
    // In a function's body, the call has the value, under a different name. Default values of the function's attributes
    // are ignored: a shape that depends on one is unknown.
    if (attribute.ref_attr_name().empty()) return &attribute;
    return call_ == nullptr ? nullptr : call_->find(attribute.ref_attr_name());
  }
  return nullptr;
}

std::int64_t Attributes::integer(std::string_view name, std::int64_t otherwise) const {
  const auto* attribute = find(name);
  return attribute != nullptr && attribute->has_i() ? attribute->i() : otherwise;
}

std::string_view Attributes::text(std::string_view name) const {
  const auto* attribute = find(name);
  return attribute == nullptr ? std::string_view() : std::string_view(attribute->s());
}

std::optional<std::vector<std::int64_t>> Attributes::integers(std::string_view name) const {
  const auto* attribute = find(name);
  if (attribute == nullptr || !budget_.spend(static_cast<std::uint64_t>(attribute->ints_size()))) return std::nullopt;
  return std::vector<std::int64_t>(attribute->ints().begin(), attribute->ints().end());
}

/// Charges several steps for a row of the table, because it takes more memory than a lookup.
bool Values::pay_for(std::string_view name, std::uint64_t values) const {
  constexpr std::uint64_t row = 16, each = 8;
  return budget_.spend(row + Budget::of_name(name.size()) + each * values);
}

std::optional<Shape> Values::stated_shape(const schema::TensorShapeProto& shape) const {
  if (static_cast<std::size_t>(shape.dim_size()) > most_values) return std::nullopt;
  Shape dims;
  for (const auto& dim : shape.dim()) {
    dims.push_back(dim.has_dim_value() ? Size(dim.dim_value()) : open_.size(dim.dim_param()));
  }
  return shape_of(std::move(dims));
}

/// Sets dimensions without a name, `input[0]`, and bound values.
void Values::bind_inputs(const schema::GraphProto& graph) {
  if (outer_ != nullptr || (!open_.has_bindings() && !open_.has_variables())) return;
  for (const auto& input : graph.input()) {
    KnownValue& value = values_[input.name()];
    if (const auto bound = open_.value(input.name())) value.integers = {*bound};
    for (std::size_t i = 0; value.shape && i < value.shape->size(); ++i) {
      Size& dim = (*value.shape)[i];
      if (!dim.is_known()) dim = open_.size(OpenDimensions::name_of(input.name(), i));
    }
  }
}

void Values::add(const google::protobuf::RepeatedPtrField<schema::ValueInfoProto>& values) {
  for (const auto& value : values) {
    const auto& type = value.type().tensor_type();
    if (!pay_for(value.name(), static_cast<std::uint64_t>(type.shape().dim_size()))) return;
    if (type.has_shape()) values_.try_emplace(value.name()).first->second.shape = stated_shape(type.shape());
  }
}

void Values::add(const schema::GraphProto& graph) {
  // Initializers are last and overwrite other entries: their dimensions are facts, while value_info may be out of date.
  add(graph.value_info());
  add(graph.output());
  add(graph.input());
  bind_inputs(graph);
  for (const auto& tensor : graph.initializer()) {
    if (!pay_for(tensor.name(), static_cast<std::uint64_t>(tensor.dims_size()))) return;
    values_[tensor.name()] = known(tensor);
  }
  for (const auto& sparse : graph.sparse_initializer()) {
    if (!pay_for(sparse.values().name(), static_cast<std::uint64_t>(sparse.dims_size()))) return;
    values_[sparse.values().name()].shape = shape_of(integers_of(sparse.dims()));
  }
}

void Values::set(std::string_view name, KnownValue value) {
  const std::size_t values = (value.shape ? value.shape->size() : 0) + (value.integers ? value.integers->size() : 0);
  if (name.empty() || !pay_for(name, values)) return;
  KnownValue& stated = values_[name];
  // A complete shape from value_info takes precedence over an inferred one: ONNX's own inference knows more operators.
  // With bindings it may be a shape for other sizes.
  const auto is_number = [](const Size& dim) { return dim.number().has_value(); };
  const bool better = !stated.shape || open_.has_bindings() || !std::ranges::all_of(*stated.shape, is_number);
  if (better && value.shape) stated.shape = std::move(value.shape);
  if (value.integers) stated.integers = std::move(value.integers);
}

/// Every scope on the way costs steps: a deep subgraph may look up names of the outermost graph repeatedly.
const KnownValue& Values::at(std::string_view name) const {
  static const KnownValue nothing;
  for (const Values* scope = this; scope != nullptr; scope = scope->outer_) {
    if (!budget_.spend(Budget::of_name(name.size()))) break;
    const auto found = scope->values_.find(name);
    if (found != scope->values_.end()) return found->second;
  }
  return nothing;
}

Size elements(const Shape& shape) {
  Size count = 1;
  for (const Size& dim : shape) {
    if (!dim.is_known()) return {};
    count = count * dim;
  }
  return count;
}

std::optional<Shape> shape_of(std::span<const std::int64_t> dims) {
  return dims.size() > most_values ? std::nullopt : shape_of(Shape(dims.begin(), dims.end()));
}

std::optional<Shape> shape_of(Shape dims) {
  if (dims.size() > most_values) return std::nullopt;
  for (Size& dim : dims) {
    if (dim.number().value_or(0) < 0) dim = Size();
  }
  return dims;
}

std::optional<Shape> broadcast(const Shape& a, const Shape& b) {
  Shape result(std::max(a.size(), b.size()));
  for (std::size_t i = 0; i < result.size(); ++i) {
    // Dimensions are aligned from the right, and a missing one counts as 1.
    const auto dim = broadcast_dim(i < a.size() ? a[a.size() - 1 - i] : 1, i < b.size() ? b[b.size() - 1 - i] : 1);
    if (!dim) return std::nullopt;
    result[result.size() - 1 - i] = *dim;
  }
  return result;
}

}  // namespace onnxar
