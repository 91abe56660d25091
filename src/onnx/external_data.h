// The `external_data` of a TensorProto: pairs of strings that state the place of the bytes (onnx/docs/ExternalData.md).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "onnx/wire.h"
#include "onnxar/bytes.h"

namespace onnxar::onnx {

/// The pairs as a model has them, not yet checked.
struct ExternalData {
  std::optional<std::string_view> location, offset, length, checksum;
  std::optional<std::string_view> unknown_key;  ///< the first key other than these four

  /// Adds one StringStringEntryProto. Throws wire.* or onnx.external_data.duplicate_key.
  void add(Bytes model, Range entry);
  /// Adds a pair that was read already, from `offset_of_pair` of the model. Throws onnx.external_data.duplicate_key.
  void add(std::string_view key, std::string_view value, std::uint64_t offset_of_pair);
};

/// A slice of the entry or data file that a location names.
struct ExternalSlice {
  std::string location;
  std::uint64_t offset = 0;
  std::optional<std::uint64_t> length;  ///< absent: the size that type and dimensions give, or else up to the end
};

/// A link that this library writes. Offset and length are written even where they are redundant: some readers take the
/// pairs by position and ignore the keys (W10).
struct ExternalLink {
  std::string location;
  std::uint64_t offset = 0;
  std::uint64_t length = 0;
  std::string checksum = {};  ///< SHA-1 of the whole entry or file, in hexadecimal digits; empty: none
  std::string more = {};      ///< further pairs, as fields of a TensorProto
};

/// Converts the pairs to a slice. Offsets and lengths are plain decimal numbers without sign, blanks or leading zeros.
/// Throws onnx.external_data.no_location, .bad_offset, .bad_length or .marker, at `offset_of_tensor`.
ExternalSlice parse_external_data(const ExternalData& data, std::uint64_t offset_of_tensor);

/// Returns the length of the slice in the `size` bytes that its location names: the stated length, or else `expected`,
/// the size that type and dimensions give, or else all bytes from the offset on (M12). For the message, `holder` names
/// the kind of the location, `entry` or `data file`, and `hint` is its end. Throws onnx.external_data.out_of_range, at
/// `offset_of_tensor`.
std::uint64_t length_in(const ExternalSlice& slice, std::optional<std::uint64_t> expected, std::uint64_t size,
                        std::string_view holder, std::uint64_t offset_of_tensor, std::string_view hint = {});

/// Refuses a `location` that `holder` (`the archive`) does not have. Throws onnx.external_data.missing, at
/// `offset_of_tensor`.
[[noreturn]] void refuse_missing(std::string_view location, std::string_view holder, std::uint64_t offset_of_tensor);

/// Encodes the link as fields 13 and 14 of a TensorProto: external_data with `location`, `offset`, `length` and, unless
/// it is empty, `checksum`, in this order, then `more` and data_location = EXTERNAL.
std::string external_data_fields(const ExternalLink& link);

/// Returns the location of a payload of a loaded model, `#onnxar:<id of the model>:<index>`. It is never written to a
/// file.
std::string memory_location(std::uint64_t model_id, std::size_t index);
/// True if it names a payload of any loaded model.
bool is_memory_location(std::string_view location) noexcept;
/// Returns the index, if `location` names a payload of model `model_id`.
std::optional<std::size_t> parse_memory_location(std::string_view location, std::uint64_t model_id) noexcept;

}  // namespace onnxar::onnx
