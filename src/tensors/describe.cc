#include "tensors/describe.h"

#include "base/text.h"

namespace onnxar {

std::string describe(const onnx::TensorSite& site) {
  return base::concat("tensor ", base::quoted(site.tensor.name), " (", site.path(), ")");
}

std::string no_data(const onnx::TensorSite& site) {
  const auto size = site.tensor.expected_size();
  return base::concat(describe(site), ": it has no data, and type ", to_string(site.tensor.type),
                      " and the dimensions call for ", size ? base::concat(*size, " bytes") : "elements",
                      "; `onnxar dump --with-data` prints them, `onnxar freeze --weights` fills them in");
}

}  // namespace onnxar
