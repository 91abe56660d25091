// The extra fields of a header (APPNOTE 4.5.1): id, size, payload, one after another.
#pragma once

#include <cstdint>
#include <optional>

#include "onnxar/bytes.h"
#include "zip/format.h"
#include "zip/shared_checks.h"

namespace onnxar::zip {

/// The extra fields that the strict profile allows. A field that is absent is empty.
struct ExtraFields {
  std::optional<Bytes> zip64;
  std::optional<Bytes> padding;  ///< the record that states an alignment
  std::uint16_t padding_id = 0;  ///< its id: padding_extra_id or alignment_extra_id
};

/// Selects the rules: a directory header may repeat an alignment record, but it has no padding.
enum class HeaderKind : std::uint8_t { directory, local };

/// Reads all of `extra`, the extra fields of one header.
/// Errors: zip.extra.malformed, .unknown, .duplicate. No allocation unless it throws.
ExtraFields read_extra_fields(Bytes extra, HeaderKind kind, const HeaderContext& refuse);

/// Returns the alignment at the front of a padding record with this id, or nothing if the format does not allow it.
/// REQUIRES: the record has 2 bytes or more.
std::optional<std::uint64_t> recorded_alignment(std::uint16_t padding_id, Bytes padding) noexcept;

// Reads the sizes and the offset of a directory header, some of which may be in its zip64 field (APPNOTE 4.5.3).

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
