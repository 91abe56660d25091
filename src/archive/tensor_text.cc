// Writes the text that messages have about tensors.
#include "archive/tensor_text.h"

#include <utility>

#include "base/text.h"
#include "onnx/tensor_values.h"

namespace onnxar {

std::string describe(const onnx::TensorSite& site) {
  return base::concat("tensor ", base::quoted(site.tensor.name), " (", site.path(), ")");
}

Error ambiguous_tensor(std::string_view text, std::size_t count, std::string_view advice,
                       std::span<const std::string> sites) {
  std::string list;
  for (const std::string& site : sites) list += (list.empty() ? "" : ", ") + escaped(site);
  return {Code::usage_ambiguous_tensor, base::concat(count, " tensors match ", base::quoted(text), "; ", advice, ": ",
                                                     list, count > sites.size() ? ", ..." : "")};
}

Finding no_data(const onnx::TensorSite& site, Place place) {
  const auto size = site.tensor.expected_size();
  const std::string amount = size ? base::concat(*size, " bytes") : "elements";
  std::string message =
      base::concat(describe(site), ": it has no data, and ", onnx::required_amount(site.tensor.type, amount));
  if (const auto location = site.tensor.external.location) {  // ONNX Runtime and onnx do not follow it either
    message += base::concat("; its link to ", base::quoted(*location), " counts only if data_location is EXTERNAL");
  }
  return {Severity::warning,
          Code::onnx_tensor_no_data,  // R11
          std::move(place),
          std::move(message),
          {Hint::dump_or_freeze}};
}

std::string duplicate_text(const onnx::TensorSite& site, std::string_view then) {
  return base::concat(describe(site), ": its graph defines this name more than once; ", then);
}

std::string not_loaded_text(std::string_view tensor, std::string_view location) {
  return base::concat(tensor, ": its data is in ", base::quoted(location), ", which was not loaded");
}

std::string unknown_key_text(std::string_view key) {
  return base::concat("external_data has the unknown key ", base::quoted(key));
}

TensorInfo info_of(const onnx::TensorSite& site) {
  return {std::string(site.tensor.name), site.tensor.type, site.tensor.dims, site.path(),
          std::string(site.constant_output())};
}

}  // namespace onnxar
