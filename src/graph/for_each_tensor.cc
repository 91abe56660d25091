// The public walks over the tensors of a model: see onnxar/model/model.h.
#include "base/errors.h"
#include "graph/walk.h"
#include "onnxar/model/model.h"
#include "proto/messages.h"

namespace onnxar {
namespace {

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
  visit_tensors(model, [&visit](const auto& tensor, const Site& site) {
    visit(changeable(tensor), info_of(tensor, site.text()));
  });
}

void for_each_tensor(const schema::ModelProto& model,
                     const std::function<void(const schema::TensorProto&, const TensorInfo&)>& visit) {
  base::check_callable(visit, "the function that is to visit the tensors");
  visit_tensors(model, [&visit](const auto& tensor, const Site& site) { visit(tensor, info_of(tensor, site.text())); });
}

}  // namespace onnxar
