// A span that borrows bytes that are gone at the semicolon.
#include <vector>

#include "onnxar/bytes.h"

onnxar::ByteSpan dangling() { return onnxar::ByteSpan::borrow(std::vector<std::byte>(100)); }
