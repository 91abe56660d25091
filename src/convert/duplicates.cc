// Keeps data where it is if a graph defines its name more than once.
#include "convert/duplicates.h"

#include <utility>

#include "archive/tensor_text.h"
#include "base/text.h"
#include "onnx/duplicates.h"

namespace onnxar {

Finding duplicate_stays(const onnx::TensorSite& site, Place place, bool is_inside) {
  return {Severity::warning, Code::onnx_graph_duplicate, std::move(place),
          duplicate_text(site, base::concat("its data stays ", is_inside ? "in" : "outside",
                                            " the model, because the place of the data decides which definition a "
                                            "runtime uses"))};
}

void refuse_duplicate(const onnx::TensorSite& site, const std::filesystem::path& path, Hint hint) {
  throw Error(Code::onnx_graph_duplicate,
              duplicate_text(site,
                             "the place of the data decides which definition a runtime uses, so the data stays "
                             "there; give each definition a name of its own"),
              {}, path, {hint});
}

void refuse_duplicates_outside(const LoadedModel& model, const std::filesystem::path& path, Hint hint) {
  onnx::DuplicateNames duplicates;
  const auto look = [&](const onnx::TensorSite& site) {
    const Payload* const payload = model.payload_of(site);
    if (payload != nullptr && payload->size() != 0 && duplicates.has(site)) refuse_duplicate(site, path, hint);
  };
  onnx::walk_tensors(model.skeleton, look);
}

}  // namespace onnxar
