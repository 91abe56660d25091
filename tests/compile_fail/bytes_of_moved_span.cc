// The bytes of a span that is given away.
#include "onnxar/archive.h"

onnxar::Bytes dangling(onnxar::ByteSpan& span) { return static_cast<onnxar::ByteSpan&&>(span).bytes(); }
