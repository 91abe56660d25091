// Reads the sizes and the offset of a directory header, some of which may be in its zip64 field (APPNOTE 4.5.3).
#pragma once

#include <cstdint>
#include <optional>

#include "onnxar/bytes.h"
#include "zip/format.h"
#include "zip/header_context.h"
#include "zip/rules.h"

namespace onnxar::zip {

struct WideFields {
  std::uint64_t size = 0;
  std::uint64_t compressed_size = 0;
  std::uint64_t header_offset = 0;
  bool needed = false;  ///< whether some value of the zip64 field does not fit in 32 bits
};

/// Returns the 64-bit values. `zip64` is the payload of the zip64 field: the values for which the header has a
/// sentinel, in order. Some writers always store all three values, or these and the disk number. Such a field is
/// accepted if it agrees with the header. In a foreign zip the field may end after any of the values. Errors:
/// zip.zip64.extra, zip.entry.disk.
WideFields read_wide_fields(const CentralFileHeader& header, std::optional<Bytes> zip64, Rules rules,
                            const HeaderContext& refuse);

}  // namespace onnxar::zip
