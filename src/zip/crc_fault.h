// The error for a wrong CRC-32, with its likely cause.
#pragma once

#include <cstdint>

#include "onnxar/bytes.h"
#include "onnxar/error.h"

namespace onnxar::zip {

/// Returns the error for an entry whose `data` has the CRC-32 `actual`, while `who` ("the archive") states a different
/// one. The message distinguishes damaged bytes from a sum that the writer restarted within the data: zlib restarts a
/// sum when it receives a null pointer, and early writers without ISA-L passed one for an empty piece. If `data` is
/// empty, because it is not in memory, the cause is not searched for. Cost: one pass over `data`.
Error crc_fault(Place place, std::string_view who, std::uint32_t stated, std::uint32_t actual, Bytes data);

}  // namespace onnxar::zip
