// What the fragments of the documents take for granted: a function that uses a value, and a runtime's own messages.
#pragma once

#include "onnxar/onnx.pb.h"

template <typename... Values>
void use(const Values&...) {}

namespace my = onnxar::schema;
