// Compares the values of two tensors, element by element.
#include "model/data_difference.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <complex>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <optional>
#include <vector>

#include "archive/opening.h"
#include "base/little_endian.h"
#include "onnx/packed_elements.h"

namespace onnxar {
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
    case DataType::float6e2m3: return Layout{2, 3, 1, Special::none};
    case DataType::float6e3m2: return Layout{3, 2, 3, Special::none};
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

/// Computes the exact difference, and rounds it once. The arithmetic is unsigned, because signed subtraction may
/// overflow.
template <std::integral T>
double distance(T a, T b) {
  using Unsigned = std::make_unsigned_t<T>;
  return static_cast<double>(static_cast<Unsigned>(a > b ? Unsigned(a) - Unsigned(b) : Unsigned(b) - Unsigned(a)));
}
double distance(double a, double b) { return std::abs(a - b); }
double distance(std::complex<double> a, std::complex<double> b) { return std::abs(a - b); }

template <typename T>
double magnitude(T value) {
  return std::abs(static_cast<double>(value));
}
double magnitude(std::complex<double> value) { return std::abs(value); }

template <std::integral T>
bool is_finite(T /*value*/) {
  return true;
}
bool is_finite(double value) { return std::isfinite(value); }
bool is_finite(std::complex<double> value) { return is_finite(value.real()) && is_finite(value.imag()); }

/// The bits of a complex number. Numbers are compared by bits, so that a NaN equals itself and 0 differs from -0.
template <typename Part>
struct Pair {
  Part real, imaginary;
  friend bool operator==(const Pair&, const Pair&) = default;
};

class DataComparison {
 public:
  DataComparison(DataType type, std::uint64_t elements) : type_(type) { found_.elements = elements; }

  std::optional<DataDifference> run(Bytes before, Bytes after) {
    // Most pieces of most tensors are equal, and memcmp detects that at the speed of memory. A piece is small enough to
    // remain in the cache for the comparison of its elements, and it has whole elements of every type.
    constexpr std::size_t step = 48U << 10U;
    for (std::size_t at = 0; at < before.size(); at += step) {
      const std::size_t size = std::min(step, before.size() - at);
      if (std::memcmp(before.data() + at, after.data() + at, size) == 0) continue;
      if (narrow_.empty()) narrow_ = values_of_narrow_float(type_);
      const unsigned bits = bits_per_element(type_);
      compare(before.subspan(at, size), after.subspan(at, size), bits == 0 ? at : at * 8 / bits);
    }
    if (found_.differing == 0) return std::nullopt;
    return found_;
  }

 private:
  /// `first` is the index of the first element.
  void compare(Bytes a, Bytes b, std::uint64_t first) {
    switch (type_) {
      case DataType::float32: return whole<std::uint32_t>(a, b, first, [](auto bits) { return real(bits); });
      case DataType::float64: return whole<std::uint64_t>(a, b, first, [](auto bits) { return real(bits); });
      case DataType::complex64: return pairs<std::uint32_t>(a, b, first);
      case DataType::complex128: return pairs<std::uint64_t>(a, b, first);
      case DataType::boolean:
      case DataType::uint8: return integers<std::uint8_t>(a, b, first);
      case DataType::int8: return integers<std::int8_t>(a, b, first);
      case DataType::uint16: return integers<std::uint16_t>(a, b, first);
      case DataType::int16: return integers<std::int16_t>(a, b, first);
      case DataType::uint32: return integers<std::uint32_t>(a, b, first);
      case DataType::int32: return integers<std::int32_t>(a, b, first);
      case DataType::uint64: return integers<std::uint64_t>(a, b, first);
      case DataType::int64: return integers<std::int64_t>(a, b, first);
      case DataType::float16:
      case DataType::bfloat16: return whole<std::uint16_t>(a, b, first, [this](auto bits) { return narrow(bits); });
      case DataType::float8e4m3fn:
      case DataType::float8e4m3fnuz:
      case DataType::float8e5m2:
      case DataType::float8e5m2fnuz:
      case DataType::float8e8m0: return whole<std::uint8_t>(a, b, first, [this](auto bits) { return narrow(bits); });
      case DataType::float4e2m1:
      case DataType::float6e2m3:
      case DataType::float6e3m2: return packed(a, b, first, [this](unsigned bits) { return narrow(bits); });
      case DataType::uint4:
      case DataType::uint2: return packed(a, b, first, [](unsigned bits) { return bits; });
      case DataType::int4:
      case DataType::int2:
        return packed(a, b, first,
                      [elements = onnx::PackedElements(type_, 0)](unsigned bits) { return elements.value(bits); });
      case DataType::undefined:
      case DataType::string: break;
    }
    // The bytes of an unknown type can be equal or not, but have no magnitude.
    whole<std::uint8_t>(a, b, first, [](auto) { return NoNumber(); });
  }

  struct NoNumber {};  // a decoded byte of an unknown type

  static double real(std::uint32_t bits) { return std::bit_cast<float>(bits); }
  static double real(std::uint64_t bits) { return std::bit_cast<double>(bits); }
  [[nodiscard]] double narrow(std::size_t bits) const { return narrow_[bits]; }

  template <typename T>
  void integers(Bytes a, Bytes b, std::uint64_t first) {
    whole<std::make_unsigned_t<T>>(a, b, first, [](auto bits) { return static_cast<T>(bits); });
  }

  template <typename Bits, typename Decode>
  void whole(Bytes a, Bytes b, std::uint64_t first, const Decode& decode) {
    for (std::size_t at = 0; at + sizeof(Bits) <= a.size(); at += sizeof(Bits), ++first) {
      const Bits left = base::load<Bits>(a, at);
      const Bits right = base::load<Bits>(b, at);
      if (left != right) add(first, decode(left), decode(right));
    }
  }

  template <typename Part>
  void pairs(Bytes a, Bytes b, std::uint64_t first) {
    const auto load = [](Bytes bytes, std::size_t at) {
      return Pair<Part>{base::load<Part>(bytes, at), base::load<Part>(bytes, at + sizeof(Part))};
    };
    const auto value = [](Pair<Part> pair) { return std::complex(real(pair.real), real(pair.imaginary)); };
    for (std::size_t at = 0; at + 2 * sizeof(Part) <= a.size(); at += 2 * sizeof(Part), ++first) {
      const Pair<Part> left = load(a, at);
      const Pair<Part> right = load(b, at);
      if (left != right) add(first, value(left), value(right));
    }
  }

  /// Elements below 8 bits.
  template <typename Decode>
  void packed(Bytes a, Bytes b, std::uint64_t first, const Decode& decode) {
    onnx::PackedElements lefts(type_, found_.elements - first), rights(type_, found_.elements - first);
    std::array<unsigned, onnx::PackedElements::most_in_byte> left{};
    for (std::size_t at = 0; at < a.size(); ++at) {
      std::size_t number = 0;
      lefts.add(a[at], [&](unsigned bits) { left.at(number++) = bits; });
      number = 0;
      rights.add(b[at], [&](unsigned right) {
        const unsigned before = left.at(number++);
        if (before != right) add(first, decode(before), decode(right));
        ++first;
      });
    }
  }

  /// Returns the difference relative to the larger magnitude.
  template <typename T>
  static double relative(T left, T right) {
    const double absolute = distance(left, right);
    const double larger = std::max(magnitude(left), magnitude(right));
    if constexpr (!std::integral<T>) {
      // Finite values may be so large that their difference, or the magnitude of a complex number, is infinite. A
      // quarter of each value has the same ratio and stays finite.
      if (!std::isfinite(absolute) || !std::isfinite(larger)) return relative(left * 0.25, right * 0.25);
    }
    return larger == 0 ? 0 : absolute / larger;
  }

  void count(std::uint64_t element) {
    if (found_.differing++ == 0) found_.first = element;
  }
  void add(std::uint64_t element, NoNumber /*left*/, NoNumber /*right*/) { count(element); }
  template <typename T>
  void add(std::uint64_t element, T left, T right) {
    count(element);
    const bool finite = is_finite(left) && is_finite(right);
    if (!finite) ++found_.not_finite;
    const double absolute = finite ? std::min(distance(left, right), std::numeric_limits<double>::max()) : 0;
    found_.max_absolute = std::max(found_.max_absolute.value_or(0), absolute);
    found_.max_relative = std::max(found_.max_relative.value_or(0), finite ? relative(left, right) : 0);
  }

  DataType type_;
  std::vector<float> narrow_;  // values by bit pattern; filled at the first difference, as most tensors have none
  DataDifference found_;
};

}  // namespace

std::vector<float> values_of_narrow_float(DataType type) {
  if (type == DataType::float8e8m0) return powers_of_two();
  const std::optional<Layout> layout = layout_of(type);
  if (!layout) return {};
  std::vector<float> values(std::size_t{1} << bits_per_element(type));
  for (std::uint32_t bits = 0; bits < values.size(); ++bits) values[bits] = value_of(bits, *layout);
  return values;
}

std::optional<DataDifference> compare_data(Bytes before, Bytes after, DataType type, std::uint64_t elements) {
  if (before.data() == after.data()) return std::nullopt;  // the models share these bytes
  return DataComparison(type, elements).run(before, after);
}

}  // namespace onnxar
