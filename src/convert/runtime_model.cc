#include <string>
#include <utility>

#include "archive/access.h"
#include "archive/external_tensor.h"
#include "convert/links.h"
#include "convert/loaded_model.h"
#include "convert/open.h"
#include "convert/plan.h"
#include "onnx/rewrite.h"
#include "onnxar/link.h"

namespace onnxar {
namespace {

/// Whether a runtime takes the tensor by name: only initializers of the main graph have such names, unless theirs are
/// empty.
bool is_taken_by_name(const onnx::TensorSite& site) {
  return site.kind == onnx::SiteKind::initializer && !site.tensor.name.empty() && site.levels.size() == 2 &&
         site.levels.front().message == onnx::Message::graph;
}

/// Splits the model of an archive into the data that a runtime takes by name, and a model with all other data inside.
class RuntimeModelMaker {
 public:
  explicit RuntimeModelMaker(const Archive& archive)
      : source_(source_of(ArchiveAccess::view(archive, archive.model_entry()), {})),
        expansion_(source_->input_size(), LoadOptions().max_expansion, Hint::use_link) {}

  RuntimeModel run() {
    try {
      const onnx::Rope model = onnx::rewrite_tensors(
          source_->model(), [this](const onnx::TensorSite& site) { return edit(site); }, {}, {link_key_prefix, {}});
      // Inline data may exceed the limit of protobuf: it includes all data that a runtime cannot be given by name.
      check_model_size(model.size(), source_->path(), Hint::use_link);
      made_.model = model.flat();
    } catch (const Error& error) {
      throw source_->with_place(error);
    }
    made_.owner = source_->owner();
    return std::move(made_);
  }

 private:
  onnx::TensorEdit edit(const onnx::TensorSite& site) {
    if (!site.tensor.is_external()) return onnx::TensorEdit::keep();
    Payload payload = source_->payload_of(site);
    const Bytes bytes = payload.bytes();
    if (!is_taken_by_name(site) || bytes.empty()) {
      expansion_.add(payload);
      return onnx::TensorEdit::put_inline(std::move(payload.source));
    }
    made_.tensors.push_back({info_of(site), bytes});
    return onnx::TensorEdit::keep();
  }

  std::unique_ptr<ArchiveSource> source_;
  Expansion expansion_;
  RuntimeModel made_;
};

}  // namespace

RuntimeModel make_runtime_model(const Archive& archive) { return RuntimeModelMaker(archive).run(); }

}  // namespace onnxar
