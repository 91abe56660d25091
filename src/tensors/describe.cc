#include "tensors/describe.h"

#include <utility>

#include "base/text.h"
#include "onnx/tensor_length.h"

namespace onnxar {

std::string describe(const onnx::TensorSite& site) {
  return base::concat("tensor ", base::quoted(site.tensor.name), " (", site.path(), ")");
}

Finding no_data(const onnx::TensorSite& site, Place place) {
  const auto size = site.tensor.expected_size();
  const std::string amount = size ? base::concat(*size, " bytes") : "elements";
  std::string message =
      base::concat(describe(site), ": it has no data, and ", onnx::required_amount(site.tensor.type, amount));
  return {Severity::warning,
          Code::onnx_tensor_no_data,  // R11
          std::move(place),
          std::move(message),
          {Hint::dump_or_freeze}};
}

TensorInfo info_of(const onnx::TensorSite& site) {
  return {std::string(site.tensor.name), site.tensor.type, site.tensor.dims, site.path()};
}

}  // namespace onnxar
