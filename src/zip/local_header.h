// The local header of an entry, proved equal to its directory header.
#pragma once

#include <cstdint>

#include "onnxar/bytes.h"
#include "zip/directory.h"

namespace onnxar::zip {

/// Whether an edit may have left a superseded model, directory and end record behind the entry's data, and whether
/// zip64 end records among them.
enum class Tail : std::uint8_t { forbidden, without_zip64, allowed };

/// Proves the local header of `entry`, its padding, and that nothing but a superseded tail stands between the data and
/// `limit`, where the next header or the directory begins. REQUIRES: limit <= file.size() and the entry, with the least
/// that headers take, ends before it.
/// Errors: zip.local.*, zip.padding.*, zip.extra.*, zip.zip64.extra, zip.entry.version, .gap, .overlap, .bounds.
LocalEntry read_local_header(Bytes file, const DirectoryEntry& entry, std::uint64_t limit, Tail tail);

/// The same but for what follows the header: `room` begins with it and is not left by it. Errors: as above, except
/// zip.entry.gap, .overlap, .bounds.
LocalEntry read_local_header(Bytes room, const DirectoryEntry& entry);

}  // namespace onnxar::zip
