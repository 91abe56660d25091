// The bytes of tensors, for programs that parse ONNX's messages with their own protobuf.
//
//   MyModelProto model;                                            // any package, full or lite, proto2 or proto3
//   model.ParseFromArray(archive.model().data(), static_cast<int>(archive.model().size()));
//   onnxar::resolve_all(archive, model, [](const auto& tensor, std::optional<onnxar::Bytes> data) { use(tensor, data);
//   });
//
// Needs no protobuf: the templates use the members that protoc gives every class for onnx.proto. Threads: as Archive.
// The calls that give a tensor's bytes:
//
// | you have                                   | call                                          | header         |
// |--------------------------------------------|-----------------------------------------------|----------------|
// | a TensorProto of your own protobuf         | resolve; resolve_all for those of a model     | resolve.h      |
// | location, offset and length                | Archive::resolve                              | archive.h      |
// | an ArchiveEntry                            | Archive::bytes; read_entry copies             | archive.h      |
// | the name of a tensor                       | TensorIndex::find, then ArchiveTensor::data   | listing.h      |
// | an ArchiveTensor, or a StoredTensor        | ArchiveTensor::data, tensor_data              | listing.h      |
// | a RuntimeTensor                            | RuntimeTensor::bytes                          | link.h         |
// | an index of a ModelReader                  | ModelReader::read, in pieces                  | model_stream.h |
// | a schema::TensorProto of a Model           | Model::payload                                | model/model.h  |
// | a model file of any form                   | extract, as files                             | convert.h      |
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "onnxar/archive.h"
#include "onnxar/bytes.h"
#include "onnxar/error.h"
#include "onnxar/tensor.h"
#include "onnxar/version.h"

namespace ONNXAR_API onnxar {

/// The description of a tensor's data, as views of the message. `tensor_message` makes one from a generated class;
/// programs without protobuf may fill it in.
struct TensorMessage {
  std::string_view name;
  DataType type = DataType::undefined;
  std::span<const std::int64_t> dims;
  bool external = false;  ///< data_location is EXTERNAL
  std::optional<Bytes> raw_data;
  bool typed_data = false;  ///< float_data, int32_data, string_data, ... has values
  std::vector<std::pair<std::string_view, std::string_view>> external_data;  ///< keys and values
};

/// The raw bytes of a tensor: external data in the archive, else raw_data, which may be longer than type and dims
/// require. Absent if the message holds values in typed fields (strings always do): read them there. Elements below 8
/// bits are packed. Nothing is copied, so data in the message may have any address. Valid as long as archive and
/// message.
/// As strict as loading: offset and length are plain decimals, the length is the one that type and dims require, and a
/// tensor has one field of data. Checksums of links are not compared. Errors, all naming the tensor: onnx.external*,
/// onnx.tensor.*; at an entry's first use as Archive::locate. Cost: O(1), about 100 ns.
[[nodiscard]] std::optional<Bytes> resolve(const Archive& archive, const TensorMessage& tensor);
std::optional<Bytes> resolve(const Archive&& archive, const TensorMessage& tensor) = delete;

template <typename T>
concept GeneratedTensor = requires(const T& tensor) {
  tensor.external_data();
  tensor.data_location();
  tensor.raw_data();
};

template <typename T>
concept GeneratedModel = requires(const T& model) { model.graph().initializer(); };

template <GeneratedTensor TensorProto>
[[nodiscard]] TensorMessage tensor_message(const TensorProto& tensor) {
  TensorMessage message;
  message.name = tensor.name();
  message.type = static_cast<DataType>(tensor.data_type());
  message.dims = {tensor.dims().data(), static_cast<std::size_t>(tensor.dims().size())};
  message.external = static_cast<int>(tensor.data_location()) == 1;  // EXTERNAL of TensorProto.DataLocation
  bool has_raw_data = !tensor.raw_data().empty();
  if constexpr (requires { tensor.has_raw_data(); }) has_raw_data = tensor.has_raw_data();  // not in proto3
  if (has_raw_data) message.raw_data = as_bytes(tensor.raw_data());
  message.typed_data = !tensor.float_data().empty() || !tensor.int32_data().empty() || !tensor.string_data().empty() ||
                       !tensor.int64_data().empty() || !tensor.double_data().empty() || !tensor.uint64_data().empty();
  for (const auto& pair : tensor.external_data()) message.external_data.emplace_back(pair.key(), pair.value());
  return message;
}
template <GeneratedTensor TensorProto>
TensorMessage tensor_message(const TensorProto&& tensor) = delete;

template <GeneratedTensor TensorProto>
[[nodiscard]] std::optional<Bytes> resolve(const Archive& archive, const TensorProto& tensor) {
  return resolve(archive, tensor_message(tensor));
}
template <GeneratedTensor TensorProto>
std::optional<Bytes> resolve(const Archive&& archive, const TensorProto& tensor) = delete;
template <GeneratedTensor TensorProto>
std::optional<Bytes> resolve(const Archive& archive, const TensorProto&& tensor) = delete;

/// Walks the archive's own model as loading does, and refuses what protobuf libraries read in different ways: a graph
/// or a key of external_data that is given twice, nesting that is too deep. Errors: wire.*, onnx.*. Cost: O(model).
void prove_model(const Archive& archive);

namespace detail {

/// Calls `visit` with every tensor. The recursion is as deep as the protobuf that parsed the model allowed.
template <typename Visit>
class TensorWalk {
 public:
  explicit TensorWalk(Visit visit) : visit_(std::move(visit)) {}

  void model(const auto& model) {
    graph(model.graph());
    for (const auto& info : model.training_info()) {
      graph(info.initialization());
      graph(info.algorithm());
    }
    for (const auto& function : model.functions()) {
      nodes(function.node());
      attributes(function.attribute_proto());
    }
  }

  void graph(const auto& graph) {
    nodes(graph.node());
    for (const auto& tensor : graph.initializer()) visit_(tensor);
    for (const auto& tensor : graph.sparse_initializer()) sparse(tensor);
  }
  void nodes(const auto& nodes) {
    for (const auto& node : nodes) attributes(node.attribute());
  }
  void attributes(const auto& attributes) {
    for (const auto& attribute : attributes) {
      if (attribute.has_t()) visit_(attribute.t());
      if (attribute.has_g()) graph(attribute.g());
      if (attribute.has_sparse_tensor()) sparse(attribute.sparse_tensor());
      for (const auto& tensor : attribute.tensors()) visit_(tensor);
      for (const auto& subgraph : attribute.graphs()) graph(subgraph);
      for (const auto& tensor : attribute.sparse_tensors()) sparse(tensor);
    }
  }

 private:
  void sparse(const auto& sparse) {
    if (sparse.has_values()) visit_(sparse.values());
    if (sparse.has_indices()) visit_(sparse.indices());
  }

  Visit visit_;
};

}  // namespace detail

/// Calls `visit(tensor, data)` for every tensor of a model, in its order, with the result of `resolve`: initializers,
/// sparse values and indices, node attributes, subgraphs, function bodies and defaults, training info. For an
/// onnx.proto of ONNX 1.10 or newer. Calls prove_model first. Errors: as both; usage.argument (an empty std::function);
/// exceptions of `visit` pass through.
template <GeneratedModel ModelProto, typename Visit>
void resolve_all(const Archive& archive, const ModelProto& model, const Visit& visit) {
  if constexpr (requires { visit.target_type(); }) {  // a std::function
    if (!visit) throw Error(Code::usage_argument, "the function that is to visit the tensors is empty");
  }
  prove_model(archive);
  detail::TensorWalk([&](const auto& tensor) { visit(tensor, resolve(archive, tensor)); }).model(model);
}
template <GeneratedModel ModelProto, typename Visit>
void resolve_all(const Archive&& archive, const ModelProto& model, const Visit& visit) = delete;

/// Verifies a link before it is written; its entry need not exist yet. Errors, all naming the tensor:
/// onnx.external.string, onnx.external_data.no_location, .marker, onnx.tensor.* (.length: not what type and dims
/// require).
void check_link(const TensorMessage& tensor, std::string_view location, std::uint64_t offset, std::uint64_t length);

namespace detail {
/// Makes the link of a message the only data that it has.
template <GeneratedTensor TensorProto>
void write_link(TensorProto& tensor, std::string_view location, std::uint64_t offset, std::uint64_t length) {
  tensor.clear_raw_data();
  tensor.clear_float_data();
  tensor.clear_int32_data();
  tensor.clear_string_data();
  tensor.clear_int64_data();
  tensor.clear_double_data();
  tensor.clear_uint64_data();
  tensor.clear_external_data();
  const auto add = [&tensor](const char* key, std::string value) {
    auto* pair = tensor.add_external_data();
    pair->set_key(key);
    pair->set_value(std::move(value));
  };
  // All three, in this order (rule W10): some readers take the pairs by their position.
  add("location", std::string(location));
  add("offset", std::to_string(offset));
  add("length", std::to_string(length));
  tensor.set_data_location(static_cast<std::remove_cvref_t<decltype(tensor.data_location())>>(1));  // EXTERNAL
}
}  // namespace detail

/// The inverse of `resolve`: makes `length` bytes at `offset` of the entry `location` the only data of a tensor. Name,
/// type and dims stay. Errors: as `check_link`; the message is then unchanged.
template <GeneratedTensor TensorProto>
void link_tensor(TensorProto& tensor, std::string_view location, std::uint64_t offset, std::uint64_t length) {
  check_link(tensor_message(std::as_const(tensor)), location, offset, length);
  detail::write_link(tensor, location, offset, length);
}

}  // namespace ONNXAR_API onnxar
