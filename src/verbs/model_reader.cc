#include <utility>
#include <vector>

#include "base/errors.h"
#include "base/text.h"
#include "onnx/sites.h"
#include "onnxar/model_stream.h"
#include "skeleton/load.h"
#include "skeleton/payload_memory.h"
#include "source/open.h"
#include "verbs/faults.h"

namespace onnxar {
namespace {

/// The caller puts the data of every tensor into a message of its class. Messages cannot share bytes, so data that
/// tensors share in the file takes memory once for each of them.
void check_expansion(const LoadedModel& model) {
  Expansion expansion(model);
  for (const Payload& payload : model.payloads) expansion.add(payload);
}

const Payload& payload_at(const LoadedModel& model, std::size_t index) {
  const std::size_t size = model.payloads.size();
  if (index < size) return model.payloads[index];
  throw Error(
      Code::usage_no_such_tensor,
      base::concat("the index ", index, " is out of range: ", size, " tensors have their data beside the model"), {},
      model.source->path());
}

}  // namespace

struct ModelReader::Parts {
  LoadedModel model;
};

ModelReader::ModelReader(Archive archive, const LoadOptions& options) : parts_(std::make_unique<Parts>()) {
  LoadedModel& model = parts_->model;
  model = load_model(resolver_of(std::move(archive), options), ExternalPolicy::everything_inline(), options,
                     Companions::left);
  refuse_faults(*model.source, options);
  check_expansion(model);
}

ModelReader::ModelReader(ModelReader&& other) noexcept = default;
ModelReader& ModelReader::operator=(ModelReader&& other) noexcept = default;
ModelReader::~ModelReader() = default;

Bytes ModelReader::model() const& noexcept { return parts_->model.skeleton; }

std::size_t ModelReader::size() const noexcept { return parts_->model.payloads.size(); }

std::uint64_t ModelReader::size_of(std::size_t index) const { return payload_at(parts_->model, index).size(); }

void ModelReader::read(std::size_t index, const ByteSink& sink) const {
  base::check_callable(sink, "the ByteSink");
  payload_at(parts_->model, index).source->read(sink);
}

void ModelReader::for_each(
    const std::function<void(std::size_t index, std::span<const FieldStep> steps)>& visit) const {
  base::check_callable(visit, "the function that is to visit the tensors");
  const LoadedModel& model = parts_->model;
  std::vector<FieldStep> steps;
  const auto visit_linked = [&](const onnx::TensorSite& site) {
    const Payload* payload = model.payload_of(site);
    if (payload == nullptr) return;
    steps.clear();
    for (const onnx::Level& level : site.levels) {
      steps.push_back({level.label, level.repeated ? std::optional(level.index) : std::nullopt});
    }
    visit(static_cast<std::size_t>(payload - model.payloads.data()), steps);
  };
  onnx::walk_tensors(model.skeleton, visit_linked, {model.max_depth});
}

}  // namespace onnxar
