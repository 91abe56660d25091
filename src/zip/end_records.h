// The end of an archive: end record, zip64 locator, zip64 end record.
#pragma once

#include <cstdint>

#include "onnxar/bytes.h"

namespace onnxar::zip {

/// What the end records say, proved to agree with each other and with where they lie.
struct EndOfArchive {
  std::uint64_t entries = 0;
  std::uint64_t directory_offset = 0;
  std::uint64_t directory_size = 0;
  bool zip64 = false;           ///< there are zip64 records
  bool unneeded_zip64 = false;  ///< which the numbers did not call for

  [[nodiscard]] std::uint64_t directory_end() const noexcept { return directory_offset + directory_size; }
};

/// Reads the end of `file`. The end record is the last 22 bytes, the locator and the zip64 record stand directly before
/// it, the directory ends where they begin; nothing is searched for, so there is one way to read a file.
/// Errors: zip.end.*, zip.zip64.*. Cost: constant.
EndOfArchive read_end(Bytes file);

}  // namespace onnxar::zip
