// Finds the states that edits left in a file.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "onnxar/bytes.h"

namespace onnxar::zip {

/// Returns the offsets at which states of the file end, in ascending order. A state ends after an end record whose
/// directory is the run of directory headers before it.
///
/// Walks the file from its front over local headers with their data, directory headers and end records, in the order in
/// which edits write them, and stops at other bytes. Skips the data of entries, so that end records stored in it do not
/// count. Checks nothing else: every state that is an archive is in the list, but not every state in the list is an
/// archive. Throws std::bad_alloc only. Cost: O(headers); reads no data.
std::vector<std::uint64_t> state_ends(Bytes file);

/// Returns the last offset in the file at which end records end that keep the rules of `read_end`, if they begin at or
/// after `from`. Finds states that `state_ends` cannot reach because a record before them is damaged. Bytes of data may
/// look like end records, so the answer says only that a complete state may end there. Cost: O(bytes after `from`).
std::optional<std::uint64_t> last_end_after(Bytes file, std::uint64_t from);

}  // namespace onnxar::zip
