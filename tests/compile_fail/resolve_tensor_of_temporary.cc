// A tensor of an archive that is gone at the semicolon.
#include "onnxar/resolve.h"

std::optional<onnxar::Bytes> dangling(const onnxar::TensorMessage& tensor) {
  return onnxar::resolve(onnxar::Archive::open("a.onnxar"), tensor);
}
