#include <utility>
#include <vector>

#include "base/text.h"
#include "convert/archive_walk.h"
#include "convert/external_tensor.h"
#include "convert/model_source.h"
#include "convert/payload.h"
#include "onnx/tensor_values.h"
#include "onnx/typed_data.h"
#include "onnxar/listing.h"

namespace onnxar {
namespace {

using base::concat;

/// What type and dimensions call for; data inside a model may be longer.
Bytes cut_to_size(Bytes bytes, const onnx::TensorView& tensor) {
  return bytes.first(tensor.expected_size().value_or(bytes.size()));
}

ByteSpan external_data(const Archive& archive, const onnx::TensorView& tensor) {
  return ByteSpan::borrow(part_named(archive, tensor, proved_link(tensor)).bytes, archive.owner());
}

ByteSpan inline_data(const Archive& archive, const onnx::TensorView& tensor) {
  onnx::prove_values(archive.model(), tensor);
  if (tensor.type == DataType::string) onnx::refuse_conversion(tensor);
  if (tensor.raw_data) {
    return ByteSpan::borrow(cut_to_size(tensor.raw_data->of(archive.model()), tensor), archive.owner());
  }
  if (tensor.expected_size() == 0) return {};
  if (const auto raw = onnx::packed_raw_bytes(archive.model(), tensor)) {
    return ByteSpan::borrow(*raw, archive.owner());
  }
  const auto source = onnx::typed_data_source(archive.model(), tensor);
  if (source) return gathered(*source);
  onnx::refuse_conversion(tensor);
}

}  // namespace

std::vector<StoredTensor> tensors(const Archive& archive, const LoadOptions& options) {
  std::vector<StoredTensor> found;
  walk_archive(archive, options, [&](const onnx::TensorSite& site) {
    found.push_back({info_of(site), site.tensor.range.begin, site.tensor.range.size()});
  });
  return found;
}

ByteSpan tensor_data(const Archive& archive, const StoredTensor& tensor) {
  try {
    const onnx::TensorView view = onnx::read_tensor(archive.model(), {tensor.offset, tensor.offset + tensor.size});
    onnx::prove_type(view);
    return view.is_external() ? external_data(archive, view) : inline_data(archive, view);
  } catch (const Error& error) {
    const std::string message = concat("tensor ", base::quoted(tensor.name), " (", tensor.site, "): ", error.message());
    throw located_in_model(archive, Error(error.code(), message, error.finding().place, error.path()));
  }
}

}  // namespace onnxar
