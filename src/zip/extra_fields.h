// Reads extra fields (APPNOTE 4.5.1): id, size, payload, one after another.
#pragma once

#include <cstdint>
#include <optional>

#include "onnxar/bytes.h"
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

/// Holds one extra field.
struct ExtraField {
  std::uint16_t id = 0;
  Bytes payload;
};

/// Takes the field at the front of `extra`. Throws zip.extra.malformed.
ExtraField take_extra_field(Bytes& extra, const HeaderContext& refuse);

/// Throws zip.extra.duplicate: the header has two fields of one kind.
[[noreturn]] void refuse_second_field(const HeaderContext& refuse);

/// Reads all of `extra`, the extra fields of one header. Throws zip.extra.malformed, .unknown or .duplicate. No
/// allocation unless it throws.
ExtraFields read_extra_fields(Bytes extra, HeaderKind kind, const HeaderContext& refuse);

/// Returns the alignment at the front of a padding record with this id, or nothing if the format does not allow it.
/// REQUIRES: the record has 2 bytes or more.
std::optional<std::uint64_t> recorded_alignment(std::uint16_t padding_id, Bytes padding) noexcept;

}  // namespace onnxar::zip
