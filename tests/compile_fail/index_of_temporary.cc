// An index reads the bytes of its archive.
#include "onnxar/listing.h"

auto dangling() { return onnxar::TensorIndex(onnxar::Archive::open("a.onnxar")); }
