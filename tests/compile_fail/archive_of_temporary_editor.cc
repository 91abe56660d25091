// The archive before an edit lives as long as the editor.
#include "onnxar/archive_writer.h"

const onnxar::Archive& dangling() { return onnxar::ArchiveEditor::open("a.onnxar").archive(); }
