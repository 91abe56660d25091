// Reads protobuf's wire format (protobuf.dev/programming-guides/encoding) one field at a time, without a schema, and
// writes it.
//
// Positions are absolute in one buffer, so that every error has its offset. Lengths have 64 bits: the limit of 31 bits
// is one of protobuf's parsers, not of the format. Groups, which are deprecated and unused in ONNX, are refused.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/byte_range.h"
#include "base/checked.h"
#include "base/kept.h"
#include "onnxar/bytes.h"

namespace onnxar::onnx {

enum class Type : std::uint8_t { varint = 0, fixed64 = 1, length_delimited = 2, fixed32 = 5 };

/// Positions [begin, end) in a buffer.
struct Range {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  [[nodiscard]] std::uint64_t size() const noexcept { return end - begin; }
  [[nodiscard]] Bytes of(Bytes buffer) const noexcept { return base::section(buffer, begin, size()); }
  bool operator==(const Range&) const = default;
};

/// One field: tag, [length,] value.
struct Field {
  std::uint32_t number = 0;
  Type type = Type::varint;
  Range whole;                     ///< from the tag to the end of the value
  Range length;                    ///< the length varint; empty unless length-delimited
  Range value;                     ///< the varint, the fixed bytes, or the bytes that the length counts
  std::uint64_t number_value = 0;  ///< of a varint or fixed field
};

/// Reads the varint at `position` and moves `position` past it. `end` limits the message. Throws wire.truncated or
/// wire.varint.
std::uint64_t read_varint(Bytes buffer, std::uint64_t& position, std::uint64_t end);

/// Iterates over the fields of one message. Does not read the bytes of length-delimited values.
class Cursor {
 public:
  /// Begins at the first field of the message at `range` of `buffer`. REQUIRES: `range` is within `buffer`.
  Cursor(base::Kept<Bytes> buffer, Range range) noexcept : buffer_(buffer), position_(range.begin), end_(range.end) {}

  /// Reads the next field into `field`; false at the end. Throws wire.truncated, wire.varint, wire.tag or wire.type.
  bool next(Field& field);

 private:
  Bytes buffer_;
  std::uint64_t position_;
  std::uint64_t end_;
};

/// Returns the last string field `number` of the message. Empty if it has none or is damaged, which a walk reports.
std::string_view string_in(Bytes model, Range message, std::uint32_t number) noexcept;

/// The greatest depth of messages below the model (M6), which is also that of protobuf's parsers.
inline constexpr std::size_t most_nested_messages = 100;

/// Refuses the embedded message in `field` if the message around it is `depth` messages below the model, and that is
/// the greatest depth (M6). Throws wire.depth.
void check_depth(std::size_t depth, const Field& field);

/// Returns the number of bytes in the shortest varint of `value`.
std::size_t varint_size(std::uint64_t value) noexcept;

void append_varint(std::string& out, std::uint64_t value);
/// Appends a varint of at least `width` bytes. Some writers reserve room for a length before they know it, and pad it.
void append_varint(std::string& out, std::uint64_t value, std::size_t width);
void append_tag(std::string& out, std::uint32_t number, Type type);
void append_varint_field(std::string& out, std::uint32_t number, std::uint64_t value);
void append_bytes_field(std::string& out, std::uint32_t number, std::string_view value);

}  // namespace onnxar::onnx
