// An editor holds a lock: it is moved, not copied.
#include "onnxar/edit.h"

onnxar::ArchiveEditor second(const onnxar::ArchiveEditor& first) { return first; }
