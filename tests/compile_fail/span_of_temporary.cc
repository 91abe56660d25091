// A span of the table of a model that is gone at the semicolon.
#include "onnxar/model/model.h"

const onnxar::ByteSpan& dangling(const onnxar::schema::TensorProto& tensor) {
  return onnxar::Model::load("a.onnx").span(tensor);
}
