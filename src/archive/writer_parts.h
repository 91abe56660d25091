// What the writers of archives are made of, for their members that are defined in layers above.
#pragma once

#include "archive/entry_writer.h"
#include "base/file_descriptor.h"
#include "base/output_file.h"
#include "onnxar/archive.h"
#include "onnxar/archive_writer.h"
#include "onnxar/edit.h"

namespace onnxar {

struct ArchiveWriter::Parts {
  base::FileDescriptor lock;  // of the file that is replaced; first in, last out
  EntryWriter writer;
  base::Sync sync;
  bool verify_model;
};

struct ArchiveEditor::Parts {
  base::FileDescriptor lock;  // first in, last out
  Archive archive;
  EntryWriter writer;
  base::Sync sync;
  bool verify_model;
};

}  // namespace onnxar
