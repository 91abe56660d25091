// Writes an ONNX archive with this library: write [--large] ARCHIVE
#include <bit>
#include <iostream>
#include <stdexcept>
#include <string>
#include <string_view>

#include "onnxar/archive_writer.h"

namespace {

std::string varint(std::uint64_t value, std::string out = {}) {
  for (; value >= 0x80; value >>= 7U) out += static_cast<char>(value | 0x80U);
  return out + static_cast<char>(value);
}
std::string number(std::uint32_t field, std::uint64_t value) { return varint(field << 3U) + varint(value); }
std::string text(std::uint32_t field, std::string_view value) {
  return varint(field << 3U | 2U) + varint(value.size()) + std::string(value);
}
std::string pair(std::string_view key, std::string_view value) { return text(13, text(1, key) + text(2, value)); }
std::string linked(const std::string& name, std::uint64_t rows, std::uint64_t columns) {
  return text(5, number(1, rows) + number(1, columns) + number(2, 1) + text(8, name) + pair("location", name) +
                     pair("offset", "0") + pair("length", std::to_string(4 * rows * columns)) + number(14, 1));
}
std::string value(std::uint32_t field, const std::string& name, std::uint64_t columns) {
  const std::string type = number(1, 1) + text(2, text(1, number(1, 16)) + text(1, number(1, columns)));
  return text(field, text(1, name) + text(2, text(1, type)));
}
std::string node(const std::string& left, const std::string& right, const std::string& out, const std::string& type) {
  return text(1, text(1, left) + text(1, right) + text(2, out) + text(4, type));
}

onnxar::StreamReader floats() {  // 0, 1, ... 2^18 - 1 = 262143, and again
  return [next = 0.0F](std::span<std::byte> target) mutable {
    for (std::size_t at = 0; at < target.size() / 4 * 4; ++at) {
      target[at] = static_cast<std::byte>(std::bit_cast<std::uint32_t>(next) >> 8 * (at % 4));  // little-endian
      if (at % 4 == 3) next = next == 262143.0F ? 0 : next + 1;
    }
    return target.size() / 4 * 4;
  };
}

}  // namespace

int main(int argc, char** argv) try {
  const bool large = argc > 1 && std::string_view(argv[1]) == "--large";
  if (argc != (large ? 3 : 2)) throw std::invalid_argument("usage: write [--large] ARCHIVE");
  const std::uint64_t rows = large ? (1U << 20U) + 1024 : 64, columns = large ? 1024 : 32;
  auto writer = onnxar::ArchiveWriter::create(argv[argc - 1], {.output = {.overwrite = true}});
  writer.add("weight", 4 * rows * columns, floats());
  writer.add("bias", 4ULL * 16 * columns, floats());
  const std::string graph = node("x", "weight", "xw", "MatMul") + node("xw", "bias", "y", "Add") + text(2, "example") +
                            linked("weight", rows, columns) + linked("bias", 16, columns) + value(11, "x", rows) +
                            value(12, "y", columns);
  writer.finish(onnxar::as_bytes(number(1, 8) + text(7, graph) + text(8, text(1, "") + number(2, 13))));
} catch (const std::exception& error) {
  std::cerr << "write: " << error.what() << '\n';
  return 1;
}
