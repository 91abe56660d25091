// Converts OutputOptions to the options of output files.
#pragma once

#include "base/output_file.h"
#include "onnxar/archive_writer.h"

namespace onnxar {

inline base::Existing existing_of(const OutputOptions& options) {
  return options.overwrite ? base::Existing::replace : base::Existing::refuse;
}
inline base::Sync sync_of(const OutputOptions& options) { return options.sync ? base::Sync::full : base::Sync::none; }

}  // namespace onnxar
