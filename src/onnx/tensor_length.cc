#include "onnx/tensor_length.h"

#include <utility>

#include "base/text.h"

namespace onnxar::onnx {

std::string required_amount(DataType type, std::uint64_t amount) {
  return required_amount(type, std::to_string(amount));
}

std::string required_amount(DataType type, std::string_view amount) {
  return base::concat("type ", to_string(type), " and the dimensions call for ", amount);
}

Error length_fault(std::string_view held, DataType type, std::uint64_t required, Place place) {
  return {Code::onnx_tensor_length, base::concat(held, ", but ", required_amount(type, required)), std::move(place)};
}

}  // namespace onnxar::onnx
