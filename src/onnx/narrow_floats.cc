#include "onnx/narrow_floats.h"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>

namespace onnxar::onnx {
namespace {

/// The meaning of the bit patterns that IEEE 754 uses for infinities and NaNs.
enum class Special : std::uint8_t {
  ieee,               ///< infinities and NaNs
  nan_only,           ///< the last pattern of each sign is NaN, the others are numbers ("FN")
  negative_zero_nan,  ///< all are numbers, and the pattern of -0 is NaN ("FNUZ")
  none,               ///< all are numbers
};

struct Layout {
  unsigned exponent_bits, mantissa_bits;
  int bias;
  Special special;
};

std::optional<Layout> layout_of(DataType type) {
  switch (type) {
    case DataType::float16: return Layout{5, 10, 15, Special::ieee};
    case DataType::bfloat16: return Layout{8, 7, 127, Special::ieee};
    case DataType::float8e5m2: return Layout{5, 2, 15, Special::ieee};
    case DataType::float8e5m2fnuz: return Layout{5, 2, 16, Special::negative_zero_nan};
    case DataType::float8e4m3fn: return Layout{4, 3, 7, Special::nan_only};
    case DataType::float8e4m3fnuz: return Layout{4, 3, 8, Special::negative_zero_nan};
    case DataType::float4e2m1: return Layout{2, 1, 1, Special::none};
    default: return std::nullopt;
  }
}

float value_of(std::uint32_t bits, const Layout& layout) {
  const std::uint32_t sign = 1U << (layout.exponent_bits + layout.mantissa_bits);
  const std::uint32_t last_exponent = (1U << layout.exponent_bits) - 1;
  const std::uint32_t last_mantissa = (1U << layout.mantissa_bits) - 1;
  const std::uint32_t exponent = (bits >> layout.mantissa_bits) & last_exponent;
  const std::uint32_t mantissa = bits & last_mantissa;
  constexpr float nan = std::numeric_limits<float>::quiet_NaN();
  const float factor = (bits & sign) != 0 ? -1.0F : 1.0F;
  if (layout.special == Special::ieee && exponent == last_exponent) {
    return mantissa != 0 ? nan : factor * std::numeric_limits<float>::infinity();
  }
  if (layout.special == Special::nan_only && exponent == last_exponent && mantissa == last_mantissa) return nan;
  if (layout.special == Special::negative_zero_nan && bits == sign) return nan;
  const bool subnormal = exponent == 0;
  const std::uint32_t significand = subnormal ? mantissa : mantissa | (last_mantissa + 1);
  const int power = static_cast<int>(subnormal ? 1 : exponent) - layout.bias - static_cast<int>(layout.mantissa_bits);
  // Exact: float has at least the exponent range and the mantissa of each of these types.
  return factor * std::ldexp(static_cast<float>(significand), power);
}

/// FLOAT8E8M0 has only an exponent: no sign and no zero, and the last pattern is NaN.
std::vector<float> powers_of_two() {
  std::vector<float> values;
  for (int exponent = -127; exponent < 128; ++exponent) values.push_back(std::ldexp(1.0F, exponent));
  values.push_back(std::numeric_limits<float>::quiet_NaN());
  return values;
}

}  // namespace

std::vector<float> values_of_narrow_float(DataType type) {
  if (type == DataType::float8e8m0) return powers_of_two();
  const std::optional<Layout> layout = layout_of(type);
  if (!layout) return {};
  std::vector<float> values(std::size_t{1} << bits_per_element(type));
  for (std::uint32_t bits = 0; bits < values.size(); ++bits) values[bits] = value_of(bits, *layout);
  return values;
}

}  // namespace onnxar::onnx
