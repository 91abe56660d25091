// One header of the central directory, held against the strict profile.
#pragma once

#include <cstdint>
#include <string_view>

#include "onnxar/bytes.h"
#include "zip/directory.h"
#include "zip/format.h"

namespace onnxar::zip {

/// A directory header with its variable parts, which are views into the directory; nothing of it is judged.
struct CentralRecord {
  CentralFileHeader fields;
  std::string_view name;
  Bytes extra;
  std::uint64_t length = 0;  ///< of all
};

/// The record at the front of `directory`, which lies at `offset` in the file. Errors: zip.directory.header.
CentralRecord read_central_record(Bytes directory, std::uint64_t offset);

struct CentralHeader {
  DirectoryEntry entry;
  std::uint64_t length = 0;  ///< with name and extra fields
};

/// Reads the header at the front of `directory`, which lies at `offset` in the file. Everything that one header can
/// show on its own is checked. The entry's name is a view into `directory`. Errors: zip.directory.header, zip.entry.*,
/// zip.name.*, zip.extra.*, zip.zip64.extra.
CentralHeader read_central_header(Bytes directory, std::uint64_t offset);

}  // namespace onnxar::zip
