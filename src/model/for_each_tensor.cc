#include "onnxar/model.h"

namespace onnxar {
namespace {

/// Walks the messages that can hold tensors. Recursion is bounded by what protobuf's parser lets in (100 levels).
class Walk {
 public:
  explicit Walk(const std::function<void(schema::TensorProto&)>& visit) : visit_(visit) {}

  void model(schema::ModelProto& model) {
    if (model.has_graph()) graph(*model.mutable_graph());
    for (auto& info : *model.mutable_training_info()) {
      if (info.has_initialization()) graph(*info.mutable_initialization());
      if (info.has_algorithm()) graph(*info.mutable_algorithm());
    }
    for (auto& function : *model.mutable_functions()) {
      for (auto& node : *function.mutable_node()) attributes(*node.mutable_attribute());
      attributes(*function.mutable_attribute_proto());
    }
  }

 private:
  void graph(schema::GraphProto& graph) {
    for (auto& node : *graph.mutable_node()) attributes(*node.mutable_attribute());
    for (auto& tensor : *graph.mutable_initializer()) visit_(tensor);
    for (auto& tensor : *graph.mutable_sparse_initializer()) sparse(tensor);
  }

  void attributes(google::protobuf::RepeatedPtrField<schema::AttributeProto>& list) {
    for (auto& attribute : list) {
      if (attribute.has_t()) visit_(*attribute.mutable_t());
      if (attribute.has_g()) graph(*attribute.mutable_g());
      for (auto& tensor : *attribute.mutable_tensors()) visit_(tensor);
      for (auto& subgraph : *attribute.mutable_graphs()) graph(subgraph);
      if (attribute.has_sparse_tensor()) sparse(*attribute.mutable_sparse_tensor());
      for (auto& tensor : *attribute.mutable_sparse_tensors()) sparse(tensor);
    }
  }

  void sparse(schema::SparseTensorProto& tensor) {
    if (tensor.has_values()) visit_(*tensor.mutable_values());
    if (tensor.has_indices()) visit_(*tensor.mutable_indices());
  }

  const std::function<void(schema::TensorProto&)>& visit_;
};

}  // namespace

void for_each_tensor(schema::ModelProto& model, const std::function<void(schema::TensorProto&)>& visit) {
  Walk(visit).model(model);
}

}  // namespace onnxar
