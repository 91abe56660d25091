#include "source/stand_ins.h"

#include <string>

#include "archive/foreign_zip.h"
#include "base/text.h"
#include "onnx/rewrite.h"

namespace onnxar {
namespace {

bool is_stand_in(const onnx::TensorSite& site) {
  const onnx::TensorView& tensor = site.tensor;
  return tensor.raw_data && !tensor.is_external() && as_text(tensor.raw_data->of(site.model)) == stand_in;
}

}  // namespace

std::vector<std::byte> link_stand_ins(Bytes model,
                                      const std::function<std::optional<std::uint64_t>(std::string_view)>& size_of,
                                      const LoadOptions& options) {
  const auto link = [&](const onnx::TensorSite& site) {
    if (!is_stand_in(site)) return onnx::TensorEdit::keep();
    const auto size = size_of(site.tensor.name);
    // Ten bytes of real data may happen to be this text.
    if (!size && site.tensor.expected_size() == stand_in.size()) return onnx::TensorEdit::keep();
    // Missing data is an error when the link is resolved. Until then the link has the length that the shape requires.
    const std::uint64_t length = size.value_or(site.tensor.expected_size().value_or(0));
    return onnx::TensorEdit::link_to({std::string(site.tensor.name), 0, length});
  };
  const wire::Rope rope = onnx::rewrite_tensors(model, link, {options.max_depth});
  if (rope.size() > options.max_skeleton_size) {
    throw Error(Code::onnx_model_too_large,
                base::concat("the model without its tensors is ", base::human_size(rope.size()), ", over the limit of ",
                             base::human_size(options.max_skeleton_size)));
  }
  return rope.flat();
}

}  // namespace onnxar
