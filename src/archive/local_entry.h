// Proves the local headers of entries of an open archive.
#pragma once

#include <cstddef>

#include "onnxar/archive.h"
#include "zip/local_header.h"

namespace onnxar {

/// Proves the local header of an entry and returns its contents. Throws what Archive::locate throws.
zip::LocalEntry local_entry(const Archive& archive, std::size_t index);

/// Proves the local header of every entry. Throws what Archive::locate throws. Cost: O(entries).
void locate_all(const Archive& archive);

}  // namespace onnxar
