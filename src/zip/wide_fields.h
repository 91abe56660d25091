// Reads the sizes and the offset of a directory header; some may be in its zip64 field (APPNOTE 4.5.3).
#pragma once

#include <cstdint>
#include <optional>

#include "onnxar/bytes.h"
#include "zip/format.h"
#include "zip/shared_checks.h"

namespace onnxar::zip {

/// Holds the sizes and the offset that a directory header states.
struct WideFields {
  std::uint64_t size = 0;
  std::uint64_t compressed_size = 0;
  std::uint64_t header_offset = 0;
  bool needed = false;  ///< true if some value of the zip64 field does not fit in 32 bits
};

/// Returns the 64-bit values of a header that has a zip64 field or a sentinel, as `read_wide_fields` does.
WideFields read_zip64_fields(const CentralFileHeader& header, std::optional<Bytes> zip64, Rules rules,
                             const HeaderContext& refuse);

/// Returns the 64-bit values. `zip64` is the payload of the zip64 field: the values for which the header has a
/// sentinel, in order. Some writers always store all three values, or these and the disk number. Such a field is
/// accepted if it agrees with the header. In a foreign zip the field may end after any of the values. Throws
/// zip.zip64.extra or zip.entry.disk.
inline WideFields read_wide_fields(const CentralFileHeader& header, std::optional<Bytes> zip64, Rules rules,
                                   const HeaderContext& refuse) {
  const std::uint32_t size = header.uncompressed_size, compressed_size = header.compressed_size;
  const std::uint32_t offset = header.relative_offset_of_local_header;
  const bool is_wide = zip64 || size == sentinel32 || compressed_size == sentinel32 || offset == sentinel32;
  if (is_wide) return read_zip64_fields(header, zip64, rules, refuse);
  return {size, compressed_size, offset, false};  // nearly every header
}

}  // namespace onnxar::zip
