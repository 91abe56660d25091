// The raw data of a message that is gone at the semicolon, in a program without exceptions.
#include "onnxar/onnx.pb.h"
#include "onnxar/resolve.h"

std::optional<onnxar::Bytes> dangling(const onnxar::Archive& archive, onnxar::Failure& failure) {
  return onnxar::resolve(archive, onnxar::schema::TensorProto(), failure);
}
