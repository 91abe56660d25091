// An archive owns its mapping: it is moved, not copied.
#include "onnxar/archive.h"

onnxar::Archive second(const onnxar::Archive& first) { return first; }
