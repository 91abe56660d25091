// An editor holds a lock: it is moved, not copied.
#include "onnxar/archive_writer.h"

onnxar::ArchiveEditor second(const onnxar::ArchiveEditor& first) { return first; }
