// The remarks of a model that is gone at the semicolon.
#include "onnxar/model/model.h"

const std::vector<onnxar::Finding>& dangling() { return onnxar::Model::load("a.onnx").remarks(); }
