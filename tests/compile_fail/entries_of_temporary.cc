// The range reads the archive at every step.
#include "onnxar/archive.h"

auto dangling() { return onnxar::Archive::open("a.onnxar").entries(); }
