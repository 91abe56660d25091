// The tensors of an archive that is gone at the semicolon, in a program without exceptions.
#include <vector>

#include "onnxar/onnx.pb.h"
#include "onnxar/resolve.h"

bool dangling(const onnxar::schema::ModelProto& model, std::vector<onnxar::Bytes>& kept, onnxar::Failure& failure) {
  const auto keep = [&kept](const auto&, std::optional<onnxar::Bytes> bytes) { kept.push_back(bytes.value()); };
  return onnxar::resolve_all(onnxar::Archive::open("a.onnxar"), model, keep, failure);
}
