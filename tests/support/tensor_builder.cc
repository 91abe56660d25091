// Builds TensorProto and SparseTensorProto, with fields in any order and any form.
#include <algorithm>
#include <bit>
#include <map>
#include <utility>

#include "support/wire_builder.h"

namespace onnxar::testing {
namespace {

// Repeated numbers that are sent as varints, in either form.
Message repeated_varints(std::uint32_t field, const std::vector<std::uint64_t>& values, Repeated form) {
  Message out;
  if (form == Repeated::packed) return out.packed_varints(field, values);
  for (const std::uint64_t value : values) out.varint(field, value);
  return out;
}

template <typename T>
std::vector<std::uint64_t> sign_extended(const std::vector<T>& values) {
  std::vector<std::uint64_t> out;
  out.reserve(values.size());
  for (const T value : values) out.push_back(static_cast<std::uint64_t>(value));
  return out;
}

}  // namespace

TensorBuilder::TensorBuilder(std::string_view name, std::uint64_t data_type, const std::vector<std::int64_t>& dims)
    : dims_(dims) {
  Message sizes;
  for (const std::int64_t size : dims_) sizes.signed_varint(tensor_field::dims, size);
  field(tensor_field::dims, sizes);
  field(tensor_field::data_type, Message().varint(tensor_field::data_type, data_type));
  if (!name.empty()) field(tensor_field::name, Message().string(tensor_field::name, name));
}

TensorBuilder& TensorBuilder::raw_data(std::span<const std::byte> bytes) {
  return field(tensor_field::raw_data, Message().bytes(tensor_field::raw_data, bytes));
}

TensorBuilder& TensorBuilder::float_data(const std::vector<float>& values, Repeated form) {
  std::vector<std::uint32_t> bits;
  bits.reserve(values.size());
  for (const float value : values) bits.push_back(std::bit_cast<std::uint32_t>(value));
  Message out;
  if (form == Repeated::packed)
    out.packed_fixed32(tensor_field::float_data, bits);
  else
    for (const std::uint32_t value : bits) out.fixed32(tensor_field::float_data, value);
  return field(tensor_field::float_data, out);
}

TensorBuilder& TensorBuilder::double_data(const std::vector<double>& values, Repeated form) {
  std::vector<std::uint64_t> bits;
  bits.reserve(values.size());
  for (const double value : values) bits.push_back(std::bit_cast<std::uint64_t>(value));
  Message out;
  if (form == Repeated::packed)
    out.packed_fixed64(tensor_field::double_data, bits);
  else
    for (const std::uint64_t value : bits) out.fixed64(tensor_field::double_data, value);
  return field(tensor_field::double_data, out);
}

TensorBuilder& TensorBuilder::int32_data(const std::vector<std::int32_t>& values, Repeated form) {
  constexpr std::uint32_t number = tensor_field::int32_data;
  return field(number, repeated_varints(number, sign_extended(values), form));
}

TensorBuilder& TensorBuilder::int64_data(const std::vector<std::int64_t>& values, Repeated form) {
  constexpr std::uint32_t number = tensor_field::int64_data;
  return field(number, repeated_varints(number, sign_extended(values), form));
}

TensorBuilder& TensorBuilder::uint64_data(const std::vector<std::uint64_t>& values, Repeated form) {
  return field(tensor_field::uint64_data, repeated_varints(tensor_field::uint64_data, values, form));
}

TensorBuilder& TensorBuilder::string_data(const std::vector<std::string>& values) {
  Message out;
  for (const std::string& value : values) out.string(tensor_field::string_data, value);
  return field(tensor_field::string_data, out);
}

TensorBuilder& TensorBuilder::external(std::string_view location, std::optional<std::uint64_t> offset,
                                       std::optional<std::uint64_t> length) {
  external_data("location", location);
  if (offset) external_data("offset", std::to_string(*offset));
  if (length) external_data("length", std::to_string(*length));
  return data_location(1);
}

TensorBuilder& TensorBuilder::external_data(std::string_view key, std::string_view value) {
  return field(tensor_field::external_data, Message().message(tensor_field::external_data, string_entry(key, value)));
}

TensorBuilder& TensorBuilder::data_location(std::uint64_t value) {
  return field(tensor_field::data_location, Message().varint(tensor_field::data_location, value));
}

TensorBuilder& TensorBuilder::segment(std::int64_t begin, std::int64_t end) {
  const Message range = Message().signed_varint(1, begin).signed_varint(2, end);
  return field(tensor_field::segment, Message().message(tensor_field::segment, range));
}

TensorBuilder& TensorBuilder::doc_string(std::string_view text) {
  return field(tensor_field::doc_string, Message().string(tensor_field::doc_string, text));
}

TensorBuilder& TensorBuilder::metadata(std::string_view key, std::string_view value) {
  return field(tensor_field::metadata_props, Message().message(tensor_field::metadata_props, string_entry(key, value)));
}

TensorBuilder& TensorBuilder::field(std::uint32_t number, const Message& encoded) {
  parts_.push_back({number, encoded});
  return *this;
}

TensorBuilder& TensorBuilder::packed_dims() {
  without(tensor_field::dims);
  const std::vector<std::uint64_t> sizes = sign_extended(dims_);
  return field(tensor_field::dims, Message().packed_varints(tensor_field::dims, sizes));
}

TensorBuilder& TensorBuilder::without(std::uint32_t number) {
  std::erase_if(parts_, [number](const Part& part) { return part.field == number; });
  return *this;
}

TensorBuilder& TensorBuilder::order(std::vector<std::uint32_t> first) {
  first_ = std::move(first);
  return *this;
}

std::size_t TensorBuilder::rank(std::uint32_t field) const {
  const auto found = std::find(first_.begin(), first_.end(), field);
  if (found != first_.end()) return static_cast<std::size_t>(found - first_.begin());
  return first_.size() + field;
}

Message TensorBuilder::message() const {
  std::multimap<std::size_t, const Message*> sorted;  // equal keys stay in the order of the calls
  for (const Part& part : parts_) sorted.emplace(rank(part.field), &part.wire);
  Message out;
  for (const auto& [place, wire] : sorted) out.raw(*wire);
  return out;
}

TensorBuilder tensor(std::string_view name, std::uint64_t data_type, const Dims& dims) {
  return {name, data_type, dims};
}

Message sparse_tensor(const Message& values, const Message& indices, const Dims& dims) {
  Message out;
  out.message(sparse_tensor_field::values, values).message(sparse_tensor_field::indices, indices);
  for (const std::int64_t size : dims) out.signed_varint(sparse_tensor_field::dims, size);
  return out;
}

}  // namespace onnxar::testing
