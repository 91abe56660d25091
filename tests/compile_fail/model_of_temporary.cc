// The model of an archive that is gone at the semicolon.
#include "onnxar/archive.h"

onnxar::Bytes dangling() { return onnxar::Archive::open("a.onnxar").model(); }
