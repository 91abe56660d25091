// Resolves tensors of your own protobuf to their bytes in an archive, and links them to entries.
//
// Needs no protobuf: the templates use the members that protoc gives every class for onnx.proto, in any package, full
// or lite, proto2 or proto3:
//
//   model.ParseFromArray(archive.model().data(), static_cast<int>(archive.model().size()));
//   onnxar::resolve_all(archive, model, [](const auto& tensor, std::optional<onnxar::Bytes> data) { ... });
//
// Threads: all functions may be called concurrently.
#pragma once

#include "onnxar/archive.h"
#include "onnxar/tensor.h"

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

/// Returns the raw bytes of a tensor: external data in the archive, else raw_data, which may be longer than type and
/// dims require. Returns nullopt if the values are in typed fields, where strings always are: read them there. Elements
/// below 8 bits are packed. Nothing is copied, so data in the message may have any address. Valid as long as archive
/// and message. Checks as much as loading does: offset and length are plain decimals, the length is what type and dims
/// require, and the tensor has one field of data. Checksums of links are not compared. Throws onnx.external*,
/// onnx.tensor.*, naming the tensor; at an entry's first use what Archive::locate throws. Cost: O(1), about 100 ns.
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

namespace detail {
/// True if a typed field, such as `float_data`, has values.
template <GeneratedTensor TensorProto>
[[nodiscard]] bool has_typed_values(const TensorProto& tensor) {
  return !tensor.float_data().empty() || !tensor.int32_data().empty() || !tensor.string_data().empty() ||
         !tensor.int64_data().empty() || !tensor.double_data().empty() || !tensor.uint64_data().empty();
}
/// Clears every field that has data, except `string_data`.
template <GeneratedTensor TensorProto>
void clear_data(TensorProto& tensor) {
  tensor.clear_raw_data();
  tensor.clear_float_data();
  tensor.clear_int32_data();
  tensor.clear_int64_data();
  tensor.clear_double_data();
  tensor.clear_uint64_data();
  tensor.clear_external_data();
}
}  // namespace detail

/// Returns views of the fields of a generated message; valid as long as it is not changed.
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
  message.typed_data = detail::has_typed_values(tensor);
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

/// Walks through the archive's own model, and refuses what protobuf libraries read in different ways: a repeated graph,
/// a repeated key of external_data, nesting that is too deep. Throws wire.*, onnx.*. Cost: O(model).
void prove_model(const Archive& archive);

/// The place of a tensor in a model.
struct TensorPlace {
  /// Names are unique only in one graph. 0 is the main graph; every other graph (a branch, a body, training info) and
  /// every function has its own number, in the order of the walk.
  std::size_t graph = 0;
  /// Like StoredTensor::site; valid during the visit: `graph.initializer[3]`,
  /// `graph.node[0].attr.then_branch.node[2].attr.value`, `functions[1].node[0].attr.value`.
  std::string_view site;
};

namespace detail {

/// Appends a step to the text of a site, and returns the previous text. An empty `label`: the value of an attribute.
std::string step_into(std::string& site, std::string_view label, std::optional<std::size_t> index,
                      std::string_view attribute_name);

/// Calls `visit` with every tensor and its place (with a site only if `sites`). Recurses as deep as protobuf's parser.
template <bool sites, typename Visit>
class TensorWalk {
 public:
  TensorWalk(std::bool_constant<sites> /*selects the class*/, Visit visit) : visit_(std::move(visit)) {}

  void model(const auto& model) {
    in("graph", [&] { graph(model.graph()); });
    each("training_info", model.training_info(), [&](const auto& info) {
      in("initialization", [&] { graph(info.initialization()); });
      in("algorithm", [&] { graph(info.algorithm()); });
    });
    each("functions", model.functions(), [&](const auto& function) {
      in_graph([&] {
        nodes(function.node());
        if constexpr (requires { function.attribute_proto(); }) {  // ONNX 1.14
          attributes("attribute_proto", function.attribute_proto());
        }
      });
    });
  }

 private:
  void graph(const auto& graph) {
    in_graph([&] {
      nodes(graph.node());
      each("initializer", graph.initializer(), [&](const auto& tensor) { visit(tensor); });
      each("sparse_initializer", graph.sparse_initializer(), [&](const auto& tensor) { sparse(tensor); });
    });
  }
  void nodes(const auto& nodes) {
    each("node", nodes, [&](const auto& node) { attributes("attribute", node.attribute()); });
  }
  void attributes(std::string_view label, const auto& attributes) {
    std::size_t i = 0;
    for (const auto& given : attributes) in(label, [&] { attribute(given); }, i++, given.name());
  }
  void attribute(const auto& attribute) {
    if (attribute.has_t()) visit(attribute.t());
    if (attribute.has_g()) graph(attribute.g());
    if (attribute.has_sparse_tensor()) sparse(attribute.sparse_tensor());
    each("", attribute.tensors(), [&](const auto& tensor) { visit(tensor); });
    each("", attribute.graphs(), [&](const auto& subgraph) { graph(subgraph); });
    each("", attribute.sparse_tensors(), [&](const auto& tensor) { sparse(tensor); });
  }
  void sparse(const auto& sparse) {
    if (sparse.has_values()) in("values", [&] { visit(sparse.values()); });
    if (sparse.has_indices()) in("indices", [&] { visit(sparse.indices()); });
  }
  void visit(const auto& tensor) { visit_(tensor, TensorPlace{graph_, site_}); }

  void each(std::string_view label, const auto& messages, const auto& action) {
    std::size_t i = 0;
    for (const auto& message : messages) in(label, [&] { action(message); }, i++);
  }
  void in(std::string_view label, const auto& action, std::optional<std::size_t> index = {},
          std::string_view attribute_name = {}) {
    if constexpr (!sites) return action();
    std::string before = step_into(site_, label, index, attribute_name);
    action();
    site_ = std::move(before);
  }
  void in_graph(const auto& action) {
    const std::size_t outer = std::exchange(graph_, graphs_++);
    action();
    graph_ = outer;
  }

  Visit visit_;
  std::string site_;
  std::size_t graph_ = 0, graphs_ = 0;
};

}  // namespace detail

/// Calls `visit(tensor, data)` or `visit(tensor, data, place)` for every tensor of a model: initializers, sparse values
/// and indices, node attributes, subgraphs, function bodies and defaults, training info. `data` is the result of
/// `resolve`, `place` a TensorPlace. A tensor of a branch may have the same name as one of the main graph. So use the
/// message's address as the key of a map, or `place.graph` together with the name. Needs an onnx.proto of ONNX 1.10 or
/// later, 1.14 for defaults of functions. Calls prove_model first. Throws what prove_model and `resolve` throw;
/// usage.argument (an empty std::function); exceptions of `visit` pass through.
template <GeneratedModel ModelProto, typename Visit>
void resolve_all(const Archive& archive, const ModelProto& model, const Visit& visit) {
  if constexpr (requires { visit.target_type(); }) {  // a std::function
    if (!visit) throw Error(Code::usage_argument, "the function that is to visit the tensors is empty");
  }
  prove_model(archive);
  using Tensor = decltype(*model.graph().initializer().begin());
  using TakesPlace = std::is_invocable<const Visit&, Tensor, std::optional<Bytes>, const TensorPlace&>;
  detail::TensorWalk(std::bool_constant<TakesPlace::value>(), [&](const auto& tensor, const TensorPlace& place) {
    if constexpr (TakesPlace::value) {
      visit(tensor, resolve(archive, tensor), place);
    } else {
      visit(tensor, resolve(archive, tensor));
    }
  }).model(model);
}
template <GeneratedModel ModelProto, typename Visit>
void resolve_all(const Archive&& archive, const ModelProto& model, const Visit& visit) = delete;

/// Verifies a link before it is written; its entry need not exist yet. Throws, naming the tensor, onnx.external.string,
/// onnx.external_data.no_location, .marker, onnx.tensor.* (.length: not what type and dims require).
void check_link(const TensorMessage& tensor, std::string_view location, std::uint64_t offset, std::uint64_t length);

namespace detail {
/// Makes the link of a message the only data that it has.
template <GeneratedTensor TensorProto>
void write_link(TensorProto& tensor, std::string_view location, std::uint64_t offset, std::uint64_t length) {
  clear_data(tensor);
  tensor.clear_string_data();
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

/// Makes `length` bytes at `offset` of the entry `location` the only data of a tensor: the inverse of `resolve`. Name,
/// type and dims stay. Throws what `check_link` throws; the message is then unchanged.
template <GeneratedTensor TensorProto>
void link_tensor(TensorProto& tensor, std::string_view location, std::uint64_t offset, std::uint64_t length) {
  check_link(tensor_message(std::as_const(tensor)), location, offset, length);
  detail::write_link(tensor, location, offset, length);
}

}  // namespace ONNXAR_API onnxar
