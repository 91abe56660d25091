// The end of an archive: end record, zip64 locator, zip64 end record.
#pragma once

#include <cstdint>
#include <vector>

#include "onnxar/bytes.h"
#include "zip/layout.h"

namespace onnxar::zip {

/// The values of the end records, which were proved to agree with each other and with the records' offsets.
struct EndOfArchive {
  std::uint64_t entries = 0;
  std::uint64_t directory_offset = 0;
  std::uint64_t directory_size = 0;
  bool zip64 = false;           ///< true if the file has zip64 end records
  bool unneeded_zip64 = false;  ///< true if it has them although every number fits in the end record

  [[nodiscard]] std::uint64_t directory_end() const noexcept { return directory_offset + directory_size; }
};

/// Reads the end of `file`. The end record is the last 22 bytes, the zip64 record and the locator come directly before
/// it, and the directory ends where they begin. Does not search for records, so a file can be read in one way only.
/// Throws zip.end.* or zip.zip64.*. Cost: constant.
EndOfArchive read_end(Bytes file);

struct EndOfZip {
  EndOfArchive end;
  /// The offsets of other end records whose comments also end with the file. Readers disagree on which record counts,
  /// unless such a record lies in an entry's data.
  std::vector<std::uint64_t> rivals;
};

/// Reads the end of a zip file that may have an archive comment: searches for the end record, as far back as a comment
/// can reach, and takes the last one. The other rules are those of `read_end`, except that the zip64 end record may
/// state a version below 10, and 65535 entries do not require one. Throws what `read_end` throws or zip.end.ambiguous
/// (the signature of an end record follows the one that was taken).
EndOfZip find_end(Bytes file);

/// True if `find_end` finds an end record. Cost: constant.
bool has_end_record(Bytes file);

/// Compares the numbers with each other and with the limits, before memory is allocated for them. Later arithmetic on
/// these numbers stays below 2^62, because `read_end` compared them with the file's size. Throws zip.directory.empty,
/// zip.directory.count or zip.limit.*.
void check_limits(const EndOfArchive& end, const Limits& limits);

}  // namespace onnxar::zip
