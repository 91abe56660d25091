#include "base/callables.h"
#include "graph/walk.h"
#include "onnxar/model/model.h"

namespace onnxar {
namespace {

TensorInfo info_of(const schema::TensorProto& tensor, const Site& site) {
  return {tensor.name(),
          static_cast<DataType>(tensor.data_type()),
          {tensor.dims().begin(), tensor.dims().end()},
          site.text()};
}

template <typename Visit>
void visit_tensors(const schema::ModelProto& model, const Visit& visit) {
  walk(model, {.tensor = visit});
}

}  // namespace

void for_each_tensor(schema::ModelProto& model, const std::function<void(schema::TensorProto&)>& visit) {
  base::check_callable(visit, "the function that is to visit the tensors");
  visit_tensors(model, [&visit](const auto& tensor, const Site&) { visit(changeable(tensor)); });
}

void for_each_tensor(schema::ModelProto& model,
                     const std::function<void(schema::TensorProto&, const TensorInfo&)>& visit) {
  base::check_callable(visit, "the function that is to visit the tensors");
  visit_tensors(model,
                [&visit](const auto& tensor, const Site& site) { visit(changeable(tensor), info_of(tensor, site)); });
}

void for_each_tensor(const schema::ModelProto& model,
                     const std::function<void(const schema::TensorProto&, const TensorInfo&)>& visit) {
  base::check_callable(visit, "the function that is to visit the tensors");
  visit_tensors(model, [&visit](const auto& tensor, const Site& site) { visit(tensor, info_of(tensor, site)); });
}

}  // namespace onnxar
