// The extra fields of a header (APPNOTE 4.5.1): id, size, payload, one after another.
#pragma once

#include <cstdint>
#include <optional>

#include "onnxar/bytes.h"
#include "zip/header_context.h"

namespace onnxar::zip {

/// The extra fields that the strict profile allows; empty where absent.
struct ExtraFields {
  std::optional<Bytes> zip64;
  std::optional<Bytes> padding;  ///< one of the two records that state an alignment
  std::uint16_t padding_id = 0;  ///< which of them
};

/// A directory header may repeat an alignment record, but it has no padding.
enum class HeaderKind : std::uint8_t { directory, local };

/// Reads all of `extra`, the extra fields of one header.
/// Errors: zip.extra.malformed, .unknown, .duplicate. No allocation unless it throws.
ExtraFields read_extra_fields(Bytes extra, HeaderKind kind, const HeaderContext& refuse);

/// The alignment at the front of a padding record with this id; nothing if the format does not allow that alignment.
/// REQUIRES: the record has 2 bytes or more.
std::optional<std::uint64_t> recorded_alignment(std::uint16_t padding_id, Bytes padding) noexcept;

}  // namespace onnxar::zip
