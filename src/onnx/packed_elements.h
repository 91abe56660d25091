// Elements of less than 8 bits in the bytes that hold them, the first in the lowest bits (onnx.proto,
// TensorProto.int32_data).
#pragma once

#include <cstddef>
#include <cstdint>

#include "onnxar/tensor.h"

namespace onnxar::onnx {

/// Reads the elements of a tensor of this type, byte by byte. REQUIRES: a type of 2, 4 or 6 bits.
class PackedElements {
 public:
  /// The most elements that one byte completes.
  static constexpr std::size_t most_in_byte = 4;

  PackedElements(DataType type, std::uint64_t count)
      : bits_(bits_per_element(type)),
        sign_(type == DataType::int4 || type == DataType::int2 ? 1U << (bits_ - 1) : 0),
        left_(count) {}

  /// Calls `visit` with the bits of each element that ends in the next byte. Bits after the last element count for
  /// nothing.
  template <typename Visit>
  void add(std::byte byte, const Visit& visit) {
    held_ |= std::to_integer<unsigned>(byte) << number_;
    for (number_ += 8; number_ >= bits_ && left_ != 0; number_ -= bits_, --left_) {
      visit(held_ & ((1U << bits_) - 1));
      held_ >>= bits_;
    }
  }

  /// Returns the number that these bits of a signed type are; the bits of an element of another type.
  [[nodiscard]] int value(unsigned bits) const noexcept {
    return static_cast<int>(bits ^ sign_) - static_cast<int>(sign_);
  }

 private:
  unsigned bits_, sign_;
  unsigned held_ = 0, number_ = 0;  // bits that belong to the next elements, and how many
  std::uint64_t left_;
};

}  // namespace onnxar::onnx
