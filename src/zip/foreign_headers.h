// Reads the headers of an entry of a foreign zip.
#pragma once

#include <cstdint>
#include <string_view>

#include "onnxar/bytes.h"

namespace onnxar::zip {

/// Describes an entry. The strict profile's rules of form do not apply: flags, times, attributes, comments, extra
/// fields, order and padding are free. A header that two readers could interpret differently is refused
/// (spec/other-zips.md).
struct ForeignEntry {
  std::string_view name;             ///< a view into the directory's bytes
  std::uint64_t size = 0;            ///< of the inflated data
  std::uint64_t stored_size = 0;     ///< of the data in the file
  std::uint64_t header_offset = 0;   ///< of the local header
  std::uint64_t central_offset = 0;  ///< of the directory header
  std::uint64_t data_offset = 0;
  std::uint64_t end = 0;  ///< of the data, or of the data descriptor that follows it
  std::uint32_t crc32 = 0;
  std::uint16_t flags = 0;      ///< of the directory; bit 11 may differ in the local header
  std::uint64_t alignment = 0;  ///< that a padding record states; 0 without one
  bool deflated = false;
  bool folder = false;  ///< the name ends in a slash, and the entry has no data
};

struct ForeignHeader {
  ForeignEntry entry;
  std::uint64_t length = 0;  ///< with name, extra fields and comment
};

/// Reads the directory header at the front of `directory`, which begins at `offset` in the file. The name is a view
/// into `directory`; with `any_names` it need not be a path. Throws zip.directory.header, zip.name.*,
/// zip.entry.encrypted, .flags, .method, .disk, .attributes, .version, .sizes, zip.extra.*, zip.zip64.extra or
/// zip.data.inflate (a size that the data cannot have).
ForeignHeader read_foreign_central(Bytes directory, std::uint64_t offset, bool any_names = false);

/// Compares the local header with the entry, and sets where the data begins and ends. Header, data and descriptor must
/// end at or before `limit`, where the directory begins. Values that a streaming writer left at 0 must be in the data
/// descriptor. Throws zip.entry.bounds, .encrypted, .flags, .version, .descriptor, zip.local.*, zip.extra.* or
/// zip.zip64.extra.
void read_foreign_local(Bytes file, std::uint64_t limit, ForeignEntry& entry);

}  // namespace onnxar::zip
