// What the handles of the C interface are.
#pragma once

#include "onnxar/archive.h"
#include "onnxar/onnxar_c.h"

struct onnxar_archive {  // NOLINT(readability-identifier-naming): a name of C
  onnxar::Archive archive;
};
