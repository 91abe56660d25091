// The raw data of a message that is gone at the semicolon.
#include "onnxar/onnx.pb.h"
#include "onnxar/resolve.h"

std::optional<onnxar::Bytes> dangling(const onnxar::Archive& archive) {
  return onnxar::resolve(archive, onnxar::schema::TensorProto());
}
