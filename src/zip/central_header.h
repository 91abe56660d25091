// One header of the central directory of a strict archive.
#pragma once

#include <cstdint>

#include "onnxar/bytes.h"
#include "zip/entry.h"

namespace onnxar::zip {

/// Reads the header at the front of `directory`, which begins at `offset` in the file, into `entry`. Returns the length
/// of the header with name and extra fields. Checks all rules that concern a single header. The entry's name is a view
/// into `directory`. Errors: zip.directory.header, zip.entry.*, zip.name.*, zip.extra.*, zip.zip64.extra.
std::uint64_t read_central_header(Bytes directory, std::uint64_t offset, DirectoryEntry& entry);

}  // namespace onnxar::zip
