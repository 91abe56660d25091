// The states that edits have left in a file.
#pragma once

#include <cstdint>
#include <vector>

#include "onnxar/bytes.h"

namespace onnxar::zip {

/// The offset at which each state of the file ends, in ascending order: after an end record whose directory begins
/// where the directory headers before it do.
///
/// Walks the file from its front: local headers with their data, directory headers, end records, and so on, as edits
/// leave them. Stops at anything else. An entry's data is skipped, so that bytes in it that look like an end record do
/// not count. Nothing else is judged: every state that is an archive is in the list, but not every one in the list is
/// an archive. Throws std::bad_alloc only. Cost: O(headers); no data is touched.
std::vector<std::uint64_t> state_ends(Bytes file);

}  // namespace onnxar::zip
