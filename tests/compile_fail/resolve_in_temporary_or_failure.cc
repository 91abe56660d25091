// A tensor of an archive that is gone at the semicolon, in a program without exceptions.
#include "onnxar/onnx.pb.h"
#include "onnxar/resolve.h"

std::optional<onnxar::Bytes> dangling(const onnxar::schema::TensorProto& tensor, onnxar::Failure& failure) {
  return onnxar::resolve(onnxar::Archive::open("a.onnxar"), tensor, failure);
}
