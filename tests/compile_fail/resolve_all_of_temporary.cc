// The tensors of an archive that is gone at the semicolon.
#include <vector>

#include "onnxar/onnx.pb.h"
#include "onnxar/resolve.h"

void dangling(const onnxar::schema::ModelProto& model, std::vector<onnxar::Bytes>& kept) {
  const auto keep = [&kept](const auto&, std::optional<onnxar::Bytes> bytes) { kept.push_back(bytes.value()); };
  onnxar::resolve_all(onnxar::Archive::open("a.onnxar"), model, keep);
}
