// The extra fields of a header (APPNOTE 4.5.1): id, size, payload, one after another.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "onnxar/bytes.h"

namespace onnxar::zip {

/// The two extra fields that the profile knows; empty where absent.
struct ExtraFields {
  std::optional<Bytes> zip64;
  std::optional<Bytes> padding;
  bool padding_last = false;
};

/// The padding record belongs in local headers alone.
enum class Padding : std::uint8_t { forbidden, allowed };

/// Reads all of `extra`, the extra fields of the header of `name` at `offset`.
/// Errors: zip.extra.malformed, .unknown, .duplicate. No allocation unless it throws.
ExtraFields read_extra_fields(Bytes extra, Padding padding, std::string_view name, std::uint64_t offset);

}  // namespace onnxar::zip
