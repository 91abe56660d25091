// The bytes of an owner that is gone at the semicolon.
#include "onnxar/archive.h"

onnxar::Bytes dangling() { return onnxar::ByteSpan::own({}).bytes(); }
