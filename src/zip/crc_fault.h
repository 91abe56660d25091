// The error for a wrong CRC-32, with its likely cause.
#pragma once

#include <cstdint>

#include "onnxar/bytes.h"
#include "onnxar/error.h"

namespace onnxar::zip {

/// The error for an entry whose `data` has the CRC-32 `actual`, while `who` ("the archive") states another. It tells
/// damaged bytes from a sum that its writer restarted within the data: zlib takes an empty piece without an address for
/// a request to restart, and early writers without ISA-L passed such pieces on. Empty `data` (not in memory) leaves
/// that out. Cost: one pass over `data`.
Error crc_fault(Place place, std::string_view who, std::uint32_t stated, std::uint32_t actual, Bytes data);

}  // namespace onnxar::zip
