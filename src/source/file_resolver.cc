#include "source/file_resolver.h"

#include <utility>

namespace onnxar {

Resolved resolve_in(ExternalFiles& files, const onnx::TensorView& tensor, const onnx::ExternalSlice& slice) {
  ExternalFiles::Part part = files.resolve(slice, tensor.expected_size(), tensor.range.begin);
  return {payload_of(std::move(part.bytes), part.file), part.is_whole};
}

}  // namespace onnxar
