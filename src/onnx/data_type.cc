// Keeps the names and widths of ONNX's data types, and computes the size of a tensor's bytes.
#include <algorithm>
#include <array>
#include <iterator>

#include "base/checked.h"
#include "onnxar/tensor.h"

namespace onnxar {
namespace {

struct TypeRow {
  std::string_view name;
  unsigned bits;  // of one element in raw data
};

/// Indexed by the type's number. Sources: onnx.proto (TensorProto.DataType), onnx/checker.cc (sizes of raw data).
constexpr std::array<TypeRow, 29> types = {{
    {"UNDEFINED", 0},      {"FLOAT", 32},    {"UINT8", 8},        {"INT8", 8},           {"UINT16", 16},
    {"INT16", 16},         {"INT32", 32},    {"INT64", 64},       {"STRING", 0},         {"BOOL", 8},
    {"FLOAT16", 16},       {"DOUBLE", 64},   {"UINT32", 32},      {"UINT64", 64},        {"COMPLEX64", 64},
    {"COMPLEX128", 128},   {"BFLOAT16", 16}, {"FLOAT8E4M3FN", 8}, {"FLOAT8E4M3FNUZ", 8}, {"FLOAT8E5M2", 8},
    {"FLOAT8E5M2FNUZ", 8}, {"UINT4", 4},     {"INT4", 4},         {"FLOAT4E2M1", 4},     {"FLOAT8E8M0", 8},
    {"UINT2", 2},          {"INT2", 2},      {"FLOAT6E2M3", 6},   {"FLOAT6E3M2", 6},
}};

const TypeRow* row(DataType type) noexcept {
  const auto number = static_cast<std::int64_t>(type);
  return number >= 0 && number < std::ssize(types) ? &types[static_cast<std::size_t>(number)] : nullptr;
}

}  // namespace

std::string to_string(DataType type) {
  const TypeRow* known = row(type);
  return known != nullptr ? std::string(known->name) : std::to_string(static_cast<std::int32_t>(type));
}

std::string shape_text(std::span<const std::int64_t> dims) {
  std::string text = "[";
  for (const std::int64_t dim : dims) text += (text.size() > 1 ? "," : "") + std::to_string(dim);
  return text + "]";
}

unsigned bits_per_element(DataType type) noexcept {
  const TypeRow* known = row(type);
  return known != nullptr ? known->bits : 0;
}

std::optional<std::uint64_t> payload_size(DataType type, std::span<const std::int64_t> dims) noexcept {
  const unsigned bits = bits_per_element(type);
  if (bits == 0 || std::ranges::any_of(dims, [](std::int64_t dim) { return dim < 0; })) return std::nullopt;
  if (std::ranges::find(dims, 0) != dims.end()) return 0;  // even if the product of the others exceeds 64 bits
  std::optional<std::uint64_t> count = 1;
  for (const std::int64_t dim : dims) {
    if (count) count = base::checked_multiply(*count, static_cast<std::uint64_t>(dim));
  }
  if (!count) return std::nullopt;
  if (bits >= 8) return base::checked_multiply(*count, bits / 8);
  // Eight elements are `bits` bytes. Only the rest is multiplied and rounded up, so that nothing wraps.
  return *count / 8 * bits + (*count % 8 * bits + 7) / 8;
}

}  // namespace onnxar
