#include "source/memory_resolver.h"

namespace onnxar {

Resolved MemoryResolver::find(const onnx::TensorSite& site, const onnx::ExternalSlice& slice) {
  throw Error(
      Code::onnx_external_missing,
      base::concat("its data is in the file ", base::quoted(slice.location), ", but a model in memory has no folder"),
      {"", site.tensor.range.begin}, {}, {Hint::data_folder_of_bytes});
}

}  // namespace onnxar
