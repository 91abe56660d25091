// A share in a payload that is gone at the semicolon.
#include "onnxar/model/model.h"

onnxar::Bytes dangling(const onnxar::Model& model, const onnxar::schema::TensorProto& tensor) {
  return model.payload(tensor).bytes();
}
