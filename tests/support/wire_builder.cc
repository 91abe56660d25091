// Writes protobuf messages and ONNX models byte by byte.
#include "support/wire_builder.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <map>
#include <ranges>
#include <utility>

namespace onnxar::testing {
namespace {

void put_varint(Blob& out, std::uint64_t value, std::size_t width) {
  std::size_t written = 0;
  do {
    const bool more = value >= 0x80 || written + 1 < width;
    out.push_back(static_cast<std::byte>((value & 0x7f) | (more ? 0x80U : 0U)));
    value >>= 7;
    ++written;
  } while (value != 0 || written < width);
}

void put_little_endian(Blob& out, std::uint64_t value, std::size_t width) {
  for (std::size_t i = 0; i < width; ++i) out.push_back(static_cast<std::byte>((value >> (8 * i)) & 0xff));
}

std::uint64_t as_u64(std::int64_t value) { return static_cast<std::uint64_t>(value); }

// AttributeProto.AttributeType.
constexpr std::uint64_t type_int = 2;
constexpr std::uint64_t type_tensor = 4;
constexpr std::uint64_t type_graph = 5;
constexpr std::uint64_t type_ints = 7;
constexpr std::uint64_t type_tensors = 9;
constexpr std::uint64_t type_graphs = 10;
constexpr std::uint64_t type_sparse_tensor = 11;
constexpr std::uint64_t type_sparse_tensors = 12;

Message attribute_of(std::string_view name, std::uint32_t field, const Messages& values, std::uint64_t type) {
  Message out;
  out.string(attribute_field::name, name);
  for (const Message& value : values) out.message(field, value);
  return out.varint(attribute_field::type, type);
}

void add_all(Message& out, std::uint32_t field, const Messages& values) {
  for (const Message& value : values) out.message(field, value);
}

void add_all(Message& out, std::uint32_t field, const Names& values) {
  for (const std::string& value : values) out.string(field, value);
}

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
  for (const T value : values) out.push_back(as_u64(value));
  return out;
}

}  // namespace

Blob blob(std::string_view text) {
  const std::span<const std::byte> bytes = std::as_bytes(std::span(text));
  return {bytes.begin(), bytes.end()};
}

Blob pattern(std::size_t size, std::uint32_t seed) {
  Blob out(size);
  std::uint32_t state = seed * 2654435761U + 1;
  for (std::byte& byte : out) {
    state = state * 1664525U + 1013904223U;
    byte = static_cast<std::byte>(state >> 24);
  }
  return out;
}

std::string text_of(std::span<const std::byte> bytes) {
  std::string out(bytes.size(), '\0');
  if (!bytes.empty()) std::memcpy(out.data(), bytes.data(), bytes.size());
  return out;
}

Message& Message::varint(std::uint32_t field, std::uint64_t value) {
  return tag(field, wire_type::varint).raw_varint(value);
}

Message& Message::signed_varint(std::uint32_t field, std::int64_t value) { return varint(field, as_u64(value)); }

Message& Message::fixed32(std::uint32_t field, std::uint32_t value) {
  tag(field, wire_type::fixed32);
  put_little_endian(wire_, value, 4);
  return *this;
}

Message& Message::fixed64(std::uint32_t field, std::uint64_t value) {
  tag(field, wire_type::fixed64);
  put_little_endian(wire_, value, 8);
  return *this;
}

Message& Message::bytes(std::uint32_t field, std::span<const std::byte> value) {
  return claimed_length(field, value.size()).raw(value);
}

Message& Message::string(std::uint32_t field, std::string_view value) {
  return bytes(field, std::as_bytes(std::span(value)));
}

Message& Message::message(std::uint32_t field, const Message& value) { return bytes(field, value.wire_); }

Message& Message::packed_varints(std::uint32_t field, const std::vector<std::uint64_t>& values) {
  Blob content;
  for (const std::uint64_t value : values) put_varint(content, value, 0);
  return bytes(field, content);
}

Message& Message::packed_fixed32(std::uint32_t field, const std::vector<std::uint32_t>& values) {
  Blob content;
  for (const std::uint32_t value : values) put_little_endian(content, value, 4);
  return bytes(field, content);
}

Message& Message::packed_fixed64(std::uint32_t field, const std::vector<std::uint64_t>& values) {
  Blob content;
  for (const std::uint64_t value : values) put_little_endian(content, value, 8);
  return bytes(field, content);
}

Message& Message::group(std::uint32_t field, const Message& value) {
  return tag(field, wire_type::group_start).raw(value).tag(field, wire_type::group_end);
}

Message& Message::padded_varint(std::uint32_t field, std::uint64_t value, std::size_t width) {
  return tag(field, wire_type::varint).raw_varint(value, width);
}

Message& Message::padded_length_bytes(std::uint32_t field, std::span<const std::byte> value, std::size_t width) {
  return tag(field, wire_type::length).raw_varint(value.size(), width).raw(value);
}

Message& Message::padded_length_message(std::uint32_t field, const Message& value, std::size_t width) {
  return padded_length_bytes(field, value.wire_, width);
}

Message& Message::padded_tag(std::uint32_t field, std::uint32_t type, std::size_t width) {
  return raw_varint((std::uint64_t{field} << 3) | type, width);
}

Message& Message::tag(std::uint32_t field, std::uint32_t type) { return padded_tag(field, type, 0); }

Message& Message::claimed_length(std::uint32_t field, std::uint64_t length) {
  return tag(field, wire_type::length).raw_varint(length);
}

Message& Message::raw_varint(std::uint64_t value, std::size_t width) {
  put_varint(wire_, value, width);
  return *this;
}

Message& Message::raw(std::span<const std::byte> value) {
  // Through a copy: `value` may be a view of this very message.
  const Blob copy(value.begin(), value.end());
  wire_.insert(wire_.end(), copy.begin(), copy.end());
  return *this;
}

Message& Message::raw(const Message& value) { return raw(value.wire_); }

Blob Message::take() { return std::exchange(wire_, {}); }

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

Message attribute_i(std::string_view name, std::int64_t value) {
  Message out;
  out.string(attribute_field::name, name).signed_varint(attribute_field::i, value);
  return out.varint(attribute_field::type, type_int);
}

Message attribute_ints(std::string_view name, const std::vector<std::int64_t>& values) {
  Message out;
  out.string(attribute_field::name, name);
  for (const std::int64_t value : values) out.signed_varint(attribute_field::ints, value);
  return out.varint(attribute_field::type, type_ints);
}

Message attribute_t(std::string_view name, const Message& tensor) {
  return attribute_of(name, attribute_field::t, {tensor}, type_tensor);
}

Message attribute_tensors(std::string_view name, const Messages& tensors) {
  return attribute_of(name, attribute_field::tensors, tensors, type_tensors);
}

Message attribute_g(std::string_view name, const Message& graph) {
  return attribute_of(name, attribute_field::g, {graph}, type_graph);
}

Message attribute_graphs(std::string_view name, const Messages& graphs) {
  return attribute_of(name, attribute_field::graphs, graphs, type_graphs);
}

Message attribute_sparse_tensor(std::string_view name, const Message& sparse) {
  return attribute_of(name, attribute_field::sparse_tensor, {sparse}, type_sparse_tensor);
}

Message attribute_sparse_tensors(std::string_view name, const Messages& sparse) {
  return attribute_of(name, attribute_field::sparse_tensors, sparse, type_sparse_tensors);
}

Message node(std::string_view op_type, const Names& inputs, const Names& outputs, const Messages& attributes,
             std::string_view domain) {
  Message out;
  add_all(out, node_field::input, inputs);
  add_all(out, node_field::output, outputs);
  out.string(node_field::op_type, op_type);
  add_all(out, node_field::attribute, attributes);
  if (!domain.empty()) out.string(node_field::domain, domain);
  return out;
}

Message constant(std::string_view output, const Message& tensor) {
  return node("Constant", {}, {std::string(output)}, {attribute_t("value", tensor)});
}

Message value_info(std::string_view name, std::uint64_t data_type, const Dims& dims) {
  Message shape;
  for (const std::int64_t size : dims) shape.message(1, Message().signed_varint(1, size));
  const Message tensor_type = Message().varint(1, data_type).message(2, shape);
  return Message().string(1, name).message(2, Message().message(1, tensor_type));
}

Message string_entry(std::string_view key, std::string_view value) { return Message().string(1, key).string(2, value); }

Message opset(std::string_view domain, std::int64_t version) {
  return Message().string(1, domain).signed_varint(2, version);
}

Message graph(const GraphParts& parts) {
  Message out;
  add_all(out, graph_field::node, parts.nodes);
  out.string(graph_field::name, parts.name);
  add_all(out, graph_field::initializer, parts.initializers);
  add_all(out, graph_field::input, parts.inputs);
  add_all(out, graph_field::output, parts.outputs);
  add_all(out, graph_field::sparse_initializer, parts.sparse_initializers);
  return out;
}

Message function(const FunctionParts& parts) {
  Message out;
  out.string(function_field::name, parts.name);
  add_all(out, function_field::input, parts.inputs);
  add_all(out, function_field::output, parts.outputs);
  add_all(out, function_field::node, parts.nodes);
  out.message(function_field::opset_import, opset("", 17));
  out.string(function_field::domain, parts.domain);
  add_all(out, function_field::attribute_proto, parts.attribute_protos);
  return out;
}

Message training_info(const Message& initialization, const Message& algorithm) {
  Message out;
  out.message(training_field::initialization, initialization);
  return out.message(training_field::algorithm, algorithm);
}

Message model(const ModelParts& parts) {
  Message out;
  out.signed_varint(model_field::ir_version, parts.ir_version);
  if (!parts.producer_name.empty()) out.string(model_field::producer_name, parts.producer_name);
  out.message(model_field::graph, parts.graph);
  add_all(out, model_field::opset_import, parts.opsets);
  add_all(out, model_field::metadata_props, parts.metadata);
  add_all(out, model_field::training_info, parts.training);
  add_all(out, model_field::functions, parts.functions);
  return out;
}

// From the inside out only what precedes the next graph is kept, because each length depends on what it
// encloses; what follows is the same on every level.
Message subgraph_of_depth(std::size_t depth, const Message& innermost) {
  const Message attribute_end = Message().varint(attribute_field::type, type_graph);
  const Message graph_end = Message().string(graph_field::name, "g");
  std::vector<Message> heads;
  std::size_t inner = innermost.size();
  for (std::size_t level = 0; level < depth; ++level) {
    Message attribute;
    attribute.string(attribute_field::name, "body").claimed_length(attribute_field::g, inner);
    const std::size_t attribute_size = attribute.size() + inner + attribute_end.size();
    Message loop;
    loop.string(node_field::op_type, "Loop").claimed_length(node_field::attribute, attribute_size).raw(attribute);
    const std::size_t node_size = loop.size() + inner + attribute_end.size();
    Message head;
    head.claimed_length(graph_field::node, node_size).raw(loop);
    inner = head.size() + inner + attribute_end.size() + graph_end.size();
    heads.push_back(std::move(head));
  }
  Message out;
  for (const Message& head : std::views::reverse(heads)) out.raw(head);
  out.raw(innermost);
  for (std::size_t level = 0; level < depth; ++level) out.raw(attribute_end).raw(graph_end);
  return out;
}

}  // namespace onnxar::testing
