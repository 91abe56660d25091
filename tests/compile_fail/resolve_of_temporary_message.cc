// The raw data of a message that is gone at the semicolon.
#include "onnxar/content.h"
#include "onnxar/onnx.pb.h"

std::optional<onnxar::Bytes> dangling(const onnxar::Archive& archive) {
  return onnxar::resolve(archive, onnxar::schema::TensorProto());
}
