#include <span>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/callables.h"
#include "onnx/sites.h"
#include "onnxar/model/model.h"

namespace onnxar {
namespace {

using onnx::Level;
template <typename T>
using Repeated = google::protobuf::RepeatedPtrField<T>;

/// Walks the messages that can hold tensors. Recursion is bounded by what protobuf's parser lets in.
class Walk {
 public:
  using Visit = std::function<void(const schema::TensorProto&, std::span<const Level>)>;
  explicit Walk(Visit visit) : visit_(std::move(visit)) {}

  void model(const schema::ModelProto& model) {
    if (model.has_graph()) at(Level{onnx::Message::graph, "graph", false, 0, {}, {}}, [&] { graph(model.graph()); });
    each(model.training_info(), onnx::Message::training, "training_info", [this](const auto& info) {
      if (info.has_initialization())
        at(Level{onnx::Message::graph, "initialization", false, 0, {}, {}}, [&] { graph(info.initialization()); });
      if (info.has_algorithm())
        at(Level{onnx::Message::graph, "algorithm", false, 0, {}, {}}, [&] { graph(info.algorithm()); });
    });
    each(model.functions(), onnx::Message::function, "functions", [this](const auto& function) {
      nodes(function.node());
      attributes(function.attribute_proto(), "attribute_proto");
    });
  }

 private:
  /// Does `work` one level further down.
  template <typename Work>
  void at(const Level& level, const Work& work) {
    levels_.push_back(level);
    work();
    levels_.pop_back();
  }
  template <typename T, typename Work>
  void each(const Repeated<T>& list, onnx::Message message, std::string_view label, const Work& work) {
    Level level{message, label, true, 0, {}, {}};
    for (const T& element : list) {
      if constexpr (std::is_same_v<T, schema::AttributeProto>) level.name = onnx::name_for_path(element.name());
      at(level, [&] { work(element); });
      ++level.index;
    }
  }

  void graph(const schema::GraphProto& graph) {
    nodes(graph.node());
    tensors(graph.initializer(), "initializer");
    sparse_tensors(graph.sparse_initializer(), "sparse_initializer");
  }
  void nodes(const Repeated<schema::NodeProto>& list) {
    each(list, onnx::Message::node, "node", [this](const auto& node) { attributes(node.attribute(), "attribute"); });
  }
  void attributes(const Repeated<schema::AttributeProto>& list, std::string_view label) {
    each(list, onnx::Message::attribute, label, [this](const auto& attribute) {
      if (attribute.has_t()) tensor(attribute.t(), "t");
      if (attribute.has_g()) at(Level{onnx::Message::graph, "g", false, 0, {}, {}}, [&] { graph(attribute.g()); });
      tensors(attribute.tensors(), "tensors");
      each(attribute.graphs(), onnx::Message::graph, "graphs", [this](const auto& subgraph) { graph(subgraph); });
      if (attribute.has_sparse_tensor()) {
        at(Level{onnx::Message::sparse, "sparse_tensor", false, 0, {}, {}}, [&] { sparse(attribute.sparse_tensor()); });
      }
      sparse_tensors(attribute.sparse_tensors(), "sparse_tensors");
    });
  }
  void sparse_tensors(const Repeated<schema::SparseTensorProto>& list, std::string_view label) {
    each(list, onnx::Message::sparse, label, [this](const auto& tensor) { sparse(tensor); });
  }
  void sparse(const schema::SparseTensorProto& sparse) {
    if (sparse.has_values()) tensor(sparse.values(), "values");
    if (sparse.has_indices()) tensor(sparse.indices(), "indices");
  }
  void tensors(const Repeated<schema::TensorProto>& list, std::string_view label) {
    each(list, onnx::Message::tensor, label, [this](const auto& tensor) { visit_(tensor, levels_); });
  }
  void tensor(const schema::TensorProto& tensor, std::string_view label) {
    at(Level{onnx::Message::tensor, label, false, 0, {}, {}}, [&] { visit_(tensor, levels_); });
  }

  Visit visit_;
  std::vector<Level> levels_;
};

TensorInfo info_of(const schema::TensorProto& tensor, std::span<const Level> levels) {
  return {tensor.name(),
          static_cast<DataType>(tensor.data_type()),
          {tensor.dims().begin(), tensor.dims().end()},
          onnx::path_of(levels)};
}

/// The walk reads only; a tensor of a model that may be changed may be changed, too.
schema::TensorProto& changeable(const schema::TensorProto& tensor) { return const_cast<schema::TensorProto&>(tensor); }

}  // namespace

void for_each_tensor(schema::ModelProto& model, const std::function<void(schema::TensorProto&)>& visit) {
  base::check_callable(visit, "the function that is to visit the tensors");
  Walk([&visit](const auto& tensor, const auto&) { visit(changeable(tensor)); }).model(model);
}

void for_each_tensor(schema::ModelProto& model,
                     const std::function<void(schema::TensorProto&, const TensorInfo&)>& visit) {
  base::check_callable(visit, "the function that is to visit the tensors");
  Walk([&visit](const auto& tensor, auto levels) { visit(changeable(tensor), info_of(tensor, levels)); }).model(model);
}

void for_each_tensor(const schema::ModelProto& model,
                     const std::function<void(const schema::TensorProto&, const TensorInfo&)>& visit) {
  base::check_callable(visit, "the function that is to visit the tensors");
  Walk([&visit](const auto& tensor, auto levels) { visit(tensor, info_of(tensor, levels)); }).model(model);
}

}  // namespace onnxar
