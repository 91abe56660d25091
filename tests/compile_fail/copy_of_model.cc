// A model owns its table: it is moved, not copied.
#include "onnxar/model/model.h"

onnxar::Model second(const onnxar::Model& first) { return first; }
