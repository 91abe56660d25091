// One header of the central directory of a strict archive.
#pragma once

#include <cstdint>
#include <string_view>

#include "onnxar/bytes.h"

namespace onnxar::zip {

// The values that the headers of one entry of a strict archive state.

/// One entry, as its directory header states it.
struct DirectoryEntry {
  std::string_view name;  ///< a view into the bytes of the Directory
  std::uint64_t size = 0;
  std::uint64_t header_offset = 0;   ///< of the local header
  std::uint64_t central_offset = 0;  ///< of the directory header
  std::uint32_t crc32 = 0;
  std::uint16_t alignment = 0;  ///< repeated from the local header; 0 if the directory does not repeat it
  std::uint16_t last_mod_time = 0;
  std::uint16_t last_mod_date = 0;
  bool unneeded_zip64 = false;
};

/// The values that only the local header states. All others were proved equal to the directory header.
struct LocalEntry {
  std::uint64_t data_offset = 0;
  std::uint64_t alignment = 0;  ///< as a padding record states it; 64 without one
  bool unneeded_zip64 = false;
};

// The local header of an entry of a strict archive, proved equal to its directory header.

/// Whether the superseded model, directory and end record of an edit may follow the entry's data, and whether that
/// state may have zip64 end records.
enum class Tail : std::uint8_t { forbidden, without_zip64, allowed };

/// Proves the local header of `entry`, its padding, and that only a superseded tail lies between the data and `limit`,
/// where the next local header or the directory begins. REQUIRES: limit <= file.size(), and header, name and data end
/// at or before `limit` if the local header has no extra fields. Errors: zip.local.*, zip.padding.*, zip.extra.*,
/// zip.zip64.extra, zip.entry.version, .gap, .overlap, .bounds.
LocalEntry read_local_header(Bytes file, const DirectoryEntry& entry, std::uint64_t limit, Tail tail);

/// Proves the header without the data. `room` begins with the header and holds all of it. Errors: as above, except
/// zip.entry.gap, .overlap and .bounds.
LocalEntry read_local_header(Bytes room, const DirectoryEntry& entry);

/// Reads the header at the front of `directory`, which begins at `offset` in the file, into `entry`. Returns the length
/// of the header with name and extra fields. Checks all rules that concern a single header. The entry's name is a view
/// into `directory`. Errors: zip.directory.header, zip.entry.*, zip.name.*, zip.extra.*, zip.zip64.extra.
std::uint64_t read_central_header(Bytes directory, std::uint64_t offset, DirectoryEntry& entry);

}  // namespace onnxar::zip
