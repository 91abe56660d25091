#include "source/stand_ins.h"

#include <algorithm>
#include <cstring>
#include <string>

#include "base/text.h"
#include "onnx/fields.h"
#include "onnx/rewrite.h"
#include "os/search.h"
#include "wire/encode.h"

namespace onnxar {
namespace {

/// Searches a stream for a short string, which may span two pieces.
class Search {
 public:
  explicit Search(std::string_view wanted) : wanted_(wanted) {}

  void add(Bytes piece) {
    if (piece.empty()) return;  // an empty piece may have a null address, which memmem does not accept
    const std::string_view text = as_text(piece);
    const std::string border = last_ + std::string(text.substr(0, wanted_.size() - 1));
    found_ = found_ || contains(border) || contains(text);
    const std::string end = last_ + std::string(text.substr(text.size() - std::min(text.size(), wanted_.size() - 1)));
    last_ = end.substr(end.size() - std::min(end.size(), wanted_.size() - 1));
  }
  [[nodiscard]] bool found() const noexcept { return found_; }

 private:
  [[nodiscard]] bool contains(std::string_view text) const { return os::contains(text, wanted_); }

  std::string_view wanted_;
  std::string last_;  // the last bytes that were added, one fewer than `wanted_` has
  bool found_ = false;
};

bool is_stand_in(const onnx::TensorSite& site) {
  const onnx::TensorView& tensor = site.tensor;
  return tensor.raw_data && !tensor.is_external() && as_text(tensor.raw_data->of(site.model)) == stand_in;
}

}  // namespace

// The model may be deflated, so its pieces are searched as they come. Parsing would need the whole model in memory
// before it is known whether the zip is accepted.
bool may_have_stand_ins(const ByteSource& model) {
  std::string field;
  wire::append_bytes_field(field, onnx::tensor_field::raw_data, stand_in);
  Search search(field);
  model.read([&search](Bytes piece) { search.add(piece); });
  return search.found();
}

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
