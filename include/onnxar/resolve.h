// The bytes of tensors, for programs that have ONNX's messages from a protobuf of their own.
//
//   MyModelProto model;                                            // any package, full or lite, proto2 or proto3
//   model.ParseFromArray(archive.model().data(), static_cast<int>(archive.model().size()));
//   onnxar::resolve_all(archive, model, [](const auto& tensor, std::optional<onnxar::Bytes> data) { ... });
//
// Nothing here needs protobuf itself: the templates use what every class has that protoc makes of onnx.proto.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "onnxar/archive.h"
#include "onnxar/bytes.h"
#include "onnxar/tensor.h"
#include "onnxar/version.h"

namespace ONNXAR_API onnxar {

/// What a TensorProto says about its data, as views of the message. `tensor_message` makes one of a generated class;
/// who reads models without protobuf may fill it in.
struct TensorMessage {
  std::string_view name;
  DataType type = DataType::undefined;
  std::span<const std::int64_t> dims;
  bool external = false;  ///< data_location is EXTERNAL
  std::optional<Bytes> raw_data;
  bool typed_data = false;  ///< there are values in float_data, int32_data, string_data, ...
  std::vector<std::pair<std::string_view, std::string_view>> external_data;  ///< keys and values
};

/// The raw bytes of a tensor: where they lie in the archive if its data is external, else its raw_data, which may be
/// longer than type and dims call for. Nothing where the message holds the values in typed fields (strings always):
/// read them there. Elements below 8 bits are packed.
///
/// As strict as loading is: offset and length are plain decimals, the length is what type and dims call for, no data
/// stands beside a link. A link's checksum is not compared; `check --data` does that. Nothing is copied, so data of the
/// message begins wherever the caller's protobuf has it, at an odd address for one. Errors, all naming the tensor:
/// onnx.external*, onnx.tensor.dims, .length (also of raw_data that is too short), .no_type, .data_beside (two fields
/// of values), .wrong_field; at an entry's first use those of Archive::locate. Valid as long as archive and message.
/// Threads: as Archive. Cost: O(1), some 100 ns.
[[nodiscard]] std::optional<Bytes> resolve(const Archive& archive, const TensorMessage& tensor);
std::optional<Bytes> resolve(const Archive&& archive, const TensorMessage& tensor) = delete;

/// A generated class of ONNX's TensorProto.
template <typename T>
concept GeneratedTensor = requires(const T& tensor) {
  tensor.external_data();
  tensor.data_location();
  tensor.raw_data();
};

/// A generated class of ONNX's ModelProto.
template <typename T>
concept GeneratedModel = requires(const T& model) { model.graph().initializer(); };

/// The message as `resolve` wants it.
template <GeneratedTensor TensorProto>
[[nodiscard]] TensorMessage tensor_message(const TensorProto& tensor) {
  constexpr int external = 1;  // TensorProto.DataLocation
  TensorMessage message;
  message.name = tensor.name();
  message.type = static_cast<DataType>(tensor.data_type());
  message.dims = {tensor.dims().data(), static_cast<std::size_t>(tensor.dims().size())};
  message.external = static_cast<int>(tensor.data_location()) == external;
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

/// The raw bytes of a tensor of any generated class; see above.
template <GeneratedTensor TensorProto>
[[nodiscard]] std::optional<Bytes> resolve(const Archive& archive, const TensorProto& tensor) {
  return resolve(archive, tensor_message(tensor));
}
template <GeneratedTensor TensorProto>
std::optional<Bytes> resolve(const Archive&& archive, const TensorProto& tensor) = delete;
template <GeneratedTensor TensorProto>
std::optional<Bytes> resolve(const Archive& archive, const TensorProto&& tensor) = delete;

/// Walks the archive's own model as loading does. Refuses what protobufs read in more than one way: a graph that is
/// given twice, a key of external_data that is given twice, messages nested too deep. Errors: wire.*, onnx.*. Cost:
/// O(model).
void prove_model(const Archive& archive);

namespace detail {

/// Calls `visit` with every tensor of a graph or of nodes, and of the graphs in them. Recursion is as deep as the
/// protobuf that parsed the model let it be.
template <typename Visit>
class TensorWalk {
 public:
  explicit TensorWalk(Visit visit) : visit_(std::move(visit)) {}

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

/// Calls `visit(tensor, data)` for every tensor of a model, with what `resolve` gives for it: initializers, sparse
/// values and indices, node attributes, subgraphs, function bodies and defaults, training info. For classes made of an
/// onnx.proto of ONNX 1.10 or newer. The archive's model is proved first. Errors: as `prove_model` and `resolve`;
/// usage.argument (an empty std::function); what `visit` throws passes.
template <GeneratedModel ModelProto, typename Visit>
void resolve_all(const Archive& archive, const ModelProto& model, const Visit& visit) {
  if constexpr (requires { visit.target_type(); }) {  // a std::function
    if (!visit) throw Error(Code::usage_argument, "the function that is to visit the tensors is empty");
  }
  prove_model(archive);
  detail::TensorWalk walk([&](const auto& tensor) { visit(tensor, resolve(archive, tensor)); });
  walk.graph(model.graph());
  for (const auto& info : model.training_info()) {
    walk.graph(info.initialization());
    walk.graph(info.algorithm());
  }
  for (const auto& function : model.functions()) {
    walk.nodes(function.node());
    walk.attributes(function.attribute_proto());
  }
}
template <GeneratedModel ModelProto, typename Visit>
void resolve_all(const Archive&& archive, const ModelProto& model, const Visit& visit) = delete;

}  // namespace ONNXAR_API onnxar
