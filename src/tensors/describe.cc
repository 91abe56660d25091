#include "tensors/describe.h"

#include "base/text.h"
#include "onnx/tensor_length.h"

namespace onnxar {

std::string describe(const onnx::TensorSite& site) {
  return base::concat("tensor ", base::quoted(site.tensor.name), " (", site.path(), ")");
}

std::string no_data(const onnx::TensorSite& site) {
  const auto size = site.tensor.expected_size();
  const std::string amount = size ? base::concat(*size, " bytes") : "elements";
  return base::concat(describe(site), ": it has no data, and ", onnx::required_amount(site.tensor.type, amount));
}

TensorInfo info_of(const onnx::TensorSite& site) {
  return {std::string(site.tensor.name), site.tensor.type, site.tensor.dims, site.path()};
}

}  // namespace onnxar
