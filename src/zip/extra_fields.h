// The extra fields of a header (APPNOTE 4.5.1): id, size, payload, one after another.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "onnxar/bytes.h"

namespace onnxar::zip {

/// The extra fields that the profile knows; empty where absent.
struct ExtraFields {
  std::optional<Bytes> zip64;
  std::optional<Bytes> padding;  ///< one of the two records that state an alignment
  std::uint16_t padding_id = 0;  ///< which of them
};

/// A directory header may repeat an alignment record, and has no room for padding.
enum class HeaderKind : std::uint8_t { directory, local };

/// Reads all of `extra`, the extra fields of the header of `name` at `offset`.
/// Errors: zip.extra.malformed, .unknown, .duplicate. No allocation unless it throws.
ExtraFields read_extra_fields(Bytes extra, HeaderKind kind, std::string_view name, std::uint64_t offset);

/// The alignment at the front of a padding record with this id; nothing where it is not one that may be recorded.
/// REQUIRES: the record has 2 bytes or more.
std::optional<std::uint64_t> recorded_alignment(std::uint16_t padding_id, Bytes padding) noexcept;

}  // namespace onnxar::zip
