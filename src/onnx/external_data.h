// The `external_data` of a TensorProto: key-value pairs of strings that say where the bytes are
// (onnx/docs/ExternalData.md).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "onnxar/bytes.h"
#include "wire/cursor.h"

namespace onnxar::onnx {

/// The pairs as they stand in a model, not yet judged.
struct ExternalData {
  std::optional<std::string_view> location, offset, length, checksum;
  std::optional<std::string_view> unknown_key;  ///< the first key that is none of the four

  /// Takes in one StringStringEntryProto. Errors: wire.*, onnx.external_data.duplicate_key.
  void add(Bytes model, wire::Range entry);
  /// The same, read already; it stood at `offset_of_pair` of the model.
  void add(std::string_view key, std::string_view value, std::uint64_t offset_of_pair);
};

/// A slice of something that a location names.
struct ExternalSlice {
  std::string location;
  std::uint64_t offset = 0;
  std::optional<std::uint64_t> length;  ///< absent: to the end
};

/// What a link that we write says. Nothing of it is left out, also where a reader could do without: some readers take
/// the pairs by their position, whatever the keys.
struct ExternalLink {
  std::string location;
  std::uint64_t offset = 0;
  std::uint64_t length = 0;
  std::string checksum = {};  ///< SHA-1 of all that the location names, in hexadecimal digits; empty: none
};

/// The pairs as a slice. Offsets and lengths are plain decimal numbers: no sign, no blank, no leading zero.
/// Errors: onnx.external_data.no_location, .bad_offset, .bad_length, .marker, at `offset_of_tensor`.
ExternalSlice parse_external_data(const ExternalData& data, std::uint64_t offset_of_tensor);

/// The link as fields 13 and 14 of a TensorProto: data_location = EXTERNAL after external_data, which is `location`,
/// `offset` and `length`, in this order, and then the checksum, if there is one.
std::string external_data_fields(const ExternalLink& link);

/// Locations of our own, that name payloads of a loaded model: `#onnxar:<id of the model>:<index>`. They never reach
/// a file.
std::string memory_location(std::uint64_t model_id, std::size_t index);
/// Whether it is one of any model.
bool is_memory_location(std::string_view location) noexcept;
/// The index, if `location` names a payload of model `model_id`.
std::optional<std::size_t> parse_memory_location(std::string_view location, std::uint64_t model_id) noexcept;

}  // namespace onnxar::onnx
