// The headers of one entry of a zip file of any maker.
//
// The strict profile's rules about form do not bind here: flags, times, attributes, comments, extra fields, order and
// padding are as their maker had them. What would make two readers see different bytes is refused all the same.
#pragma once

#include <cstdint>
#include <string_view>

#include "onnxar/bytes.h"

namespace onnxar::zip {

struct ForeignEntry {
  std::string_view name;             ///< lives as long as the directory's bytes
  std::uint64_t size = 0;            ///< of the bytes that were put in
  std::uint64_t stored_size = 0;     ///< of the bytes in the file
  std::uint64_t header_offset = 0;   ///< of the local header
  std::uint64_t central_offset = 0;  ///< of its header in the directory
  std::uint64_t data_offset = 0;
  std::uint64_t end = 0;  ///< behind the data, and behind its descriptor where there is one
  std::uint32_t crc32 = 0;
  std::uint16_t flags = 0;      ///< as the directory has them; bit 11 may differ in the local header
  std::uint64_t alignment = 0;  ///< as a padding record says it; 0 where there is none
  bool deflated = false;
  bool folder = false;  ///< the name ends in a slash; no data
};

struct ForeignHeader {
  ForeignEntry entry;
  std::uint64_t length = 0;  ///< with name, extra fields and comment
};

/// Reads the directory header at the front of `directory`, which lies at `offset` in the file. The name is a view into
/// `directory`. Errors: zip.directory.header, zip.name.*, zip.entry.encrypted, .flags, .method, .disk, .attributes,
/// .version, .sizes, zip.extra.*, zip.zip64.extra, zip.data.inflate (a size that the data cannot have).
ForeignHeader read_foreign_central(Bytes directory, std::uint64_t offset);

/// Holds the local header against the entry and finds where its data begins and ends; all of it has to end by `limit`,
/// where the directory begins. What a streaming writer left at 0 is looked for in the data descriptor.
/// Errors: zip.entry.bounds, .encrypted, .flags, .version, .descriptor, zip.local.*, zip.extra.*, zip.zip64.extra.
void read_foreign_local(Bytes file, std::uint64_t limit, ForeignEntry& entry);

}  // namespace onnxar::zip
