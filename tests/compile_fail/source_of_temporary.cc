// A source of bytes that are gone at the semicolon.
#include <array>

#include "onnxar/byte_source.h"

onnxar::SpanSource dangling() { return onnxar::SpanSource(std::array<std::byte, 4>()); }
