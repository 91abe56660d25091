#include "convert/archive_walk.h"

#include <string>
#include <utility>

#include "archive/changed.h"

namespace onnxar {

void walk_archive(const Archive& archive, const LoadOptions& options,
                  const std::function<void(const onnx::TensorSite&)>& visit) {
  const Bytes model = archive.model();
  try {
    onnx::walk_tensors(model, visit, {options.max_depth});
  } catch (const Error& error) {
    throw located_in_model(archive, error);
  }
}

Error located_in_model(const Archive& archive, const Error& error) {
  if (!error.path().empty() || !error.entry().empty()) return error;
  Place place{std::string(model_entry_name), error.offset()};
  if (place.offset) *place.offset += static_cast<std::uint64_t>(archive.model().data() - archive.file().data());
  return told_apart_in_model({error.code(), error.message(), std::move(place), archive.path()}, archive);
}

TensorInfo info_of(const onnx::TensorSite& site) {
  return {std::string(site.tensor.name), site.tensor.type, site.tensor.dims, site.path()};
}

}  // namespace onnxar
