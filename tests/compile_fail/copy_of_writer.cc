// A writer owns its file: it is moved, not copied.
#include "onnxar/archive_writer.h"

onnxar::ArchiveWriter second(const onnxar::ArchiveWriter& first) { return first; }
