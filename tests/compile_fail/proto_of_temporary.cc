// The messages of a model that is gone at the semicolon.
#include "onnxar/model/model.h"

onnxar::schema::ModelProto& dangling() { return onnxar::Model::load("a.onnx").proto(); }
