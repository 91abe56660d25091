// Text in memory where a file's path was taken for it: the pointer as a path, the length as an offset.
#include "onnxar/archive_writer.h"

void wrong(onnxar::ArchiveWriter& writer, const char* data, std::size_t size) { writer.add("w", {data, size}); }
