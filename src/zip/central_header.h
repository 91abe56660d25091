// Reads the directory header of an entry of a strict archive.
#pragma once

#include <cstdint>
#include <string_view>

#include "onnxar/bytes.h"

namespace onnxar::zip {

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
  bool in_folder = false;  ///< the name has a slash
};

/// Reads the header at the front of `directory`, which begins at `offset` in the file, into `entry`. Returns the length
/// of the header with name and extra fields. Checks all rules that concern a single header. The entry's name is a view
/// into `directory`. Throws zip.directory.header, zip.entry.*, zip.name.*, zip.extra.* or zip.zip64.extra.
std::uint64_t read_central_header(Bytes directory, std::uint64_t offset, DirectoryEntry& entry);

}  // namespace onnxar::zip
