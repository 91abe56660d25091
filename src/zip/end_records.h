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

struct EndOfZip {
  EndOfArchive end;
  /// Where others stand whose comment would end with the file, too: unless such a one lies in an entry's data, readers
  /// differ in which of them they take.
  std::vector<std::uint64_t> rivals;
};

/// Reads the end of a zip file that may have an archive comment: its end record is searched for, as far as a comment
/// reaches; the last one holds. All else is as in `read_end`, except that the zip64 end record may name a version below
/// 45, and 65 535 entries need no such record.
/// Errors: as `read_end`; zip.end.ambiguous (the signature of an end record follows the one that holds).
EndOfZip find_end(Bytes file);

/// Whether `find_end` finds one. Cost: constant.
bool has_end_record(Bytes file);

/// Holds the numbers against each other and the limits, before anything is allocated by them. All arithmetic on a
/// file's numbers stays below 2^62 because they are compared with the file's size first.
/// Errors: zip.directory.empty, zip.directory.count, zip.limit.*.
void check_limits(const EndOfArchive& end, const Limits& limits);

}  // namespace onnxar::zip
