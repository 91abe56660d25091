// Formats numbers for readers.
#include "shell/numbers.h"

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdio>

namespace onnxar::tool {
namespace {

/// The unit for each power of 1000.
using Units = std::array<std::string_view, 5>;

/// Returns the number with a unit and so many decimals; without decimals if the unit is the first.
std::string scaled(std::uint64_t number, int decimals, const Units& units) {
  auto value = static_cast<double>(number);
  std::size_t unit = 0;
  // A value of at least this much is rounded to 1000: 999.96 kB would be printed as 1000.0 kB.
  const auto end = [&] { return 1000 - (unit == 0 ? 0.5 : 0.5 * std::pow(10.0, -decimals)); };
  for (; value >= end() && unit + 1 < units.size(); ++unit) value /= 1000;
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.*f", unit == 0 ? 0 : decimals, value);
  return std::string(text.data()) + std::string(units.at(unit));
}

}  // namespace

std::string short_size(std::uint64_t bytes) {
  return bytes == 1 ? "1 byte" : scaled(bytes, 1, {" bytes", " kB", " MB", " GB", " TB"});
}

std::string short_count(std::uint64_t count) { return scaled(count, 2, {"", " k", " M", " G", " T"}); }

std::string grouped(std::uint64_t number, std::string_view separator) {
  constexpr std::size_t group = 3;
  std::string text = std::to_string(number);
  for (std::size_t at = text.size(); at > group;) text.insert(at -= group, separator);
  return text;
}

std::string counted(std::uint64_t count, std::string_view what) {
  return counted(count, what, std::string(what) + "s");
}

std::string counted(std::uint64_t count, std::string_view one, std::string_view several) {
  return std::to_string(count) + " " + std::string(count == 1 ? one : several);
}

}  // namespace onnxar::tool
