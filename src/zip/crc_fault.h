// A CRC-32 that is not the one stated: what may have happened.
#pragma once

#include <cstdint>

#include "onnxar/bytes.h"
#include "onnxar/error.h"

namespace onnxar::zip {

/// The error for an entry whose `data` has CRC-32 `actual` where `who` ("the archive") states another. Tells bytes that
/// were damaged from a sum that its writer began anew in their midst: zlib takes an empty piece without an address for
/// a request to do so, and writers without ISA-L once passed those on. `data` may be empty where it is not in memory:
/// then that is not looked for. Cost: one pass over `data`.
Error crc_fault(Place place, std::string_view who, std::uint32_t stated, std::uint32_t actual, Bytes data);

}  // namespace onnxar::zip
