// The values that the headers of one entry of a strict archive state.
#pragma once

#include <cstdint>
#include <string_view>

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
};

/// The values that only the local header states. All others were proved equal to the directory header.
struct LocalEntry {
  std::uint64_t data_offset = 0;
  std::uint64_t alignment = 0;  ///< as a padding record states it; 64 without one
  bool unneeded_zip64 = false;
};

}  // namespace onnxar::zip
