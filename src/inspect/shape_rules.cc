// Reads parameters of operators: integers, and axes that may count from the end.
#include "inspect/shape_rules.h"

namespace onnxar::shape_rules {

std::optional<Integers> numbers_of(const std::optional<Sizes>& sizes) {
  if (!sizes) return std::nullopt;
  Integers numbers;
  for (const Size& size : *sizes) {
    if (!size.number()) return std::nullopt;
    numbers.push_back(*size.number());
  }
  return numbers;
}

std::optional<std::size_t> place(std::int64_t axis, std::size_t rank) {
  const auto size = static_cast<std::int64_t>(rank);
  if (axis < -size || axis >= size) return std::nullopt;
  return static_cast<std::size_t>(axis < 0 ? axis + size : axis);
}

}  // namespace onnxar::shape_rules
