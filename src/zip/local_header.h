// The local header of an entry of a strict archive, proved equal to its directory header.
#pragma once

#include <cstdint>

#include "onnxar/bytes.h"
#include "zip/entry.h"

namespace onnxar::zip {

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

}  // namespace onnxar::zip
