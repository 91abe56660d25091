#include "model/shapes.h"

#include <algorithm>
#include <cstring>

#include "base/checked.h"
#include "onnxar/tensor.h"

namespace onnxar {
namespace {

constexpr int most_integers = 1024;

std::optional<Shape> shape_of(const schema::TensorShapeProto& shape) {
  Shape dims;
  for (const auto& dim : shape.dim()) {
    dims.push_back(dim.has_dim_value() && dim.dim_value() >= 0 ? dim.dim_value() : unknown_dim);
  }
  return dims;
}

template <typename Integer>
std::vector<std::int64_t> integers_of_raw(const std::string& raw) {
  std::vector<std::int64_t> values(raw.size() / sizeof(Integer));
  for (std::size_t i = 0; i < values.size(); ++i) {
    Integer value = 0;
    std::memcpy(&value, raw.data() + i * sizeof value, sizeof value);
    values[i] = value;
  }
  return values;
}

KnownValue known(const schema::TensorProto& tensor) {
  return {Shape(tensor.dims().begin(), tensor.dims().end()), small_integers(tensor)};
}

}  // namespace

std::optional<std::vector<std::int64_t>> small_integers(const schema::TensorProto& tensor) {
  const auto type = static_cast<DataType>(tensor.data_type());
  const Shape dims(tensor.dims().begin(), tensor.dims().end());
  const auto count = elements(dims);
  if ((type != DataType::int64 && type != DataType::int32) || !count || *count > most_integers) return std::nullopt;
  std::vector<std::int64_t> values;
  if (tensor.has_raw_data()) {
    values = type == DataType::int64 ? integers_of_raw<std::int64_t>(tensor.raw_data())
                                     : integers_of_raw<std::int32_t>(tensor.raw_data());
  } else if (type == DataType::int64) {
    values.assign(tensor.int64_data().begin(), tensor.int64_data().end());
  } else {
    values.assign(tensor.int32_data().begin(), tensor.int32_data().end());
  }
  if (values.size() != *count) return std::nullopt;
  return values;
}

const schema::AttributeProto* Attributes::find(std::string_view name) const {
  for (const auto& attribute : node_.attribute()) {
    if (attribute.name() != name) continue;
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
  if (attribute == nullptr) return std::nullopt;
  return std::vector<std::int64_t>(attribute->ints().begin(), attribute->ints().end());
}

void Values::add(const google::protobuf::RepeatedPtrField<schema::ValueInfoProto>& values) {
  for (const auto& value : values) {
    if (value.type().tensor_type().has_shape()) {
      values_.try_emplace(value.name()).first->second.shape = shape_of(value.type().tensor_type().shape());
    }
  }
}

void Values::add(const schema::GraphProto& graph) {
  add(graph.value_info());
  add(graph.output());
  add(graph.input());
  for (const auto& tensor : graph.initializer()) values_[tensor.name()] = known(tensor);
  for (const auto& sparse : graph.sparse_initializer()) {
    values_[sparse.values().name()].shape = Shape(sparse.dims().begin(), sparse.dims().end());
  }
}

void Values::set(std::string_view name, KnownValue value) {
  if (name.empty()) return;
  KnownValue& stated = values_[name];
  const bool better = !stated.shape || std::ranges::find(*stated.shape, unknown_dim) != stated.shape->end();
  if (better && value.shape) stated.shape = std::move(value.shape);
  if (value.integers) stated.integers = std::move(value.integers);
}

const KnownValue& Values::at(std::string_view name) const {
  static const KnownValue nothing;
  const auto found = values_.find(name);
  if (found != values_.end()) return found->second;
  return outer_ == nullptr ? nothing : outer_->at(name);
}

bool Values::is_known(std::string_view name) const {
  const auto& dims = shape(name);
  return dims && std::ranges::find(*dims, unknown_dim) == dims->end();
}

std::optional<std::uint64_t> elements(const Shape& shape) {
  std::optional<std::uint64_t> count = 1;
  for (const std::int64_t dim : shape) {
    if (dim < 0) return std::nullopt;
    if (count) count = base::checked_multiply(*count, static_cast<std::uint64_t>(dim));
  }
  return count;
}

std::optional<Shape> broadcast(const Shape& a, const Shape& b) {
  Shape result(std::max(a.size(), b.size()));
  for (std::size_t i = 0; i < result.size(); ++i) {
    // From the right; a missing dimension is 1.
    const std::int64_t x = i < a.size() ? a[a.size() - 1 - i] : 1;
    const std::int64_t y = i < b.size() ? b[b.size() - 1 - i] : 1;
    std::int64_t& dim = result[result.size() - 1 - i];
    if (x == y || y == 1) {
      dim = x;
    } else if (x == 1) {
      dim = y;
    } else if (x == unknown_dim || y == unknown_dim) {
      dim = std::max(x, y);  // the unknown one is 1 or the same
    } else {
      return std::nullopt;
    }
  }
  return result;
}

}  // namespace onnxar
