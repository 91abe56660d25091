// Text in memory where a file's path was taken for it: the pointer as a path, the length as an offset.
#include "onnxar/bytes.h"

onnxar::FileRange wrong(const char* data, std::size_t size) { return {data, size}; }
