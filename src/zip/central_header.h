// One header of the central directory, held against the strict profile.
#pragma once

#include <cstdint>

#include "onnxar/bytes.h"
#include "zip/directory.h"

namespace onnxar::zip {

struct CentralHeader {
  DirectoryEntry entry;
  std::uint64_t length = 0;  ///< with name and extra fields
};

/// Reads the header at the front of `directory`, which lies at `offset` in the file. Everything that one header can
/// show on its own is checked. The entry's name is a view into `directory`. Errors: zip.directory.header, zip.entry.*,
/// zip.name.*, zip.extra.*, zip.zip64.extra.
CentralHeader read_central_header(Bytes directory, std::uint64_t offset);

}  // namespace onnxar::zip
