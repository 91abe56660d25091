// A source of bytes that are gone at the semicolon.
#include <array>

#include "onnxar/bytes.h"

const onnxar::SpanSource dangling{std::array<std::byte, 4>()};
