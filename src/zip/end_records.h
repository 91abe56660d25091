// The end of an archive: end record, zip64 locator, zip64 end record.
#pragma once

#include <cstdint>
#include <vector>

#include "onnxar/bytes.h"

namespace onnxar::zip {

struct Limits {
  std::uint64_t entries = 1ULL << 20U;
  std::uint64_t directory_size = 256ULL << 20U;
};

/// What the end records state, proved to agree with each other and with where they lie.
struct EndOfArchive {
  std::uint64_t entries = 0;
  std::uint64_t directory_offset = 0;
  std::uint64_t directory_size = 0;
  bool zip64 = false;           ///< there are zip64 records
  bool unneeded_zip64 = false;  ///< although every number fits in the end record

  [[nodiscard]] std::uint64_t directory_end() const noexcept { return directory_offset + directory_size; }
};

/// Reads the end of `file`. The end record is the last 22 bytes, the zip64 record and the locator come directly before
/// it, and the directory ends where they begin. Nothing is searched for, so there is only one way to read a file.
/// Errors: zip.end.*, zip.zip64.*. Cost: constant.
EndOfArchive read_end(Bytes file);

struct EndOfZip {
  EndOfArchive end;
  /// The offsets of other end records whose comment would end with the file, too. Unless such a record lies in an
  /// entry's data, readers differ in which one they take.
  std::vector<std::uint64_t> rivals;
};

/// Reads the end of a zip file that may have an archive comment: searches for the end record, as far back as a comment
/// can reach, and takes the last one. All else is as in `read_end`, except that the zip64 end record may state a
/// version below 10, and 65535 entries do not require one. Errors: as `read_end`; zip.end.ambiguous (the signature of
/// an end record follows the one that was taken).
EndOfZip find_end(Bytes file);

/// Whether `find_end` finds an end record. Cost: constant.
bool has_end_record(Bytes file);

/// Compares the numbers with each other and with the limits, before anything is allocated by them. Later arithmetic on
/// a file's numbers stays below 2^62, because they are compared with the file's size first.
/// Errors: zip.directory.empty, zip.directory.count, zip.limit.*.
void check_limits(const EndOfArchive& end, const Limits& limits);

}  // namespace onnxar::zip
