// The states that edits have left in a file.
#pragma once

#include <cstdint>
#include <vector>

#include "onnxar/bytes.h"

namespace onnxar::zip {

/// Where each state of the file ends, from the first to the last: behind an end record whose directory begins where
/// directory headers do.
///
/// Walks the file from its front, local headers with their data, directory headers, end records, and again, as edits
/// leave them, and stops where something else stands. So what looks like a record within an entry's data is no end of a
/// state. Nothing else is judged: a state that is an archive is among them, but not all of them are archives.
/// Never throws but for memory. Cost: O(headers); no data is touched.
std::vector<std::uint64_t> state_ends(Bytes file);

}  // namespace onnxar::zip
