// A tensor of an archive that is gone at the semicolon.
#include "onnxar/onnx.pb.h"
#include "onnxar/resolve.h"

std::optional<onnxar::Bytes> dangling(const onnxar::schema::TensorProto& tensor) {
  return onnxar::resolve(onnxar::Archive::open("a.onnxar"), tensor);
}
