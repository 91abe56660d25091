// Builds the messages of a ModelProto around its tensors: attributes, nodes, graphs, functions, models.
#include <ranges>
#include <utility>

#include "support/wire_builder.h"

namespace onnxar::testing {
namespace {

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

}  // namespace

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
