#include "tensors/message_view.h"

namespace onnxar {

onnx::TensorView view_of(const TensorMessage& message) {
  onnx::TensorView tensor;
  tensor.name = message.name;
  tensor.type = message.type;
  tensor.dims.reserve(message.dims.size());
  for (const std::int64_t dim : message.dims) add_dim(tensor, static_cast<std::uint64_t>(dim), 0);
  check_product(tensor);
  if (message.raw_data) tensor.raw_data = wire::Range{0, message.raw_data->size()};
  tensor.typed_data = message.typed_data;
  for (const auto& [key, value] : message.external_data) tensor.external.add(key, value, 0);
  return tensor;
}

}  // namespace onnxar
