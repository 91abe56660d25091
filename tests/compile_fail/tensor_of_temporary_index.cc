// The tensors are in the index.
#include "onnxar/tensors.h"

const auto* dangling(const onnxar::Archive& archive) { return onnxar::TensorIndex(archive).find("w"); }
