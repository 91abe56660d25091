// The handles that several files of the C interface share.
#pragma once

#include "onnxar/archive.h"
#include "onnxar/onnxar_c.h"

struct onnxar_archive {  // NOLINT(readability-identifier-naming): a name of C
  onnxar::Archive archive;
};
