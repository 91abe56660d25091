// A view of data in a message that is gone at the semicolon.
#include "onnxar/model/model.h"

onnxar::ByteSpan dangling(const onnxar::Model& model) { return model.payload(onnxar::schema::TensorProto()); }
