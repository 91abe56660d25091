// Correct variants of the code in the sources about models: this one must compile.
#include <utility>

#include "onnxar/model/model.h"
#include "onnxar/resolve.h"

std::size_t lawful(const onnxar::schema::TensorProto& tensor, const onnxar::Archive& archive) {
  onnxar::Model model = onnxar::Model::load("a.onnx");
  onnxar::schema::ModelProto& proto = model.proto();
  const onnxar::Model moved = std::move(model);
  const onnxar::ByteSpan payload = moved.payload(tensor);
  return payload.bytes().size() + moved.span(tensor).bytes().size() + moved.remarks().size() +
         moved.proto().ByteSizeLong() + proto.ByteSizeLong() + onnxar::resolve(archive, tensor).value().size();
}
