// The error for a wrong CRC-32.
#pragma once

#include <cstdint>

#include "onnxar/error.h"

namespace onnxar::zip {

/// Returns the error for an entry whose data has the CRC-32 `actual`, while `who` ("the archive") states another one.
Error crc_fault(Place place, std::string_view who, std::uint32_t stated, std::uint32_t actual);

}  // namespace onnxar::zip
