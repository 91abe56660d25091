// A pointer and a length are bytes in memory, and must not become a path and an offset.
#include "onnxar/bytes.h"

onnxar::FileRange wrong(const char* data, std::size_t size) { return {data, size}; }
