// Prints how this library reads archives, for a test that compares other readers on the same files.
//
// Reads files from standard input, each after a line with its size. Prints one line of JSON per file:
// {"code":"zip.entry.gap"}, or the entries in order, {"entries":[["5f5f4d",64,2,1691405446], ...]}: name in
// hexadecimal, offset of the data, size, and the CRC-32 of the bytes that are handed out. Stages open, use and check
// data, see the specification. Standard input is used because writing ten thousand files to a disk takes longer than
// reading them.
#include <cstdint>
#include <exception>
#include <iostream>
#include <string>
#include <string_view>

#include "base/crc32.h"
#include "onnxar/archive.h"
#include "onnxar/bytes.h"
#include "onnxar/error.h"

namespace {

using onnxar::Archive;
using onnxar::ArchiveEntry;

std::string hexadecimal(std::string_view bytes) {
  constexpr std::string_view digits = "0123456789abcdef";
  std::string out;
  for (const char c : bytes) {
    const auto value = static_cast<unsigned char>(c);
    out += digits[value >> 4U];
    out += digits[value & 15U];
  }
  return out;
}

std::string read_entry(const Archive& archive, const ArchiveEntry& entry) {
  archive.verify(entry);
  const onnxar::Bytes bytes = archive.bytes(entry);
  const auto offset = static_cast<std::uint64_t>(bytes.data() - archive.file().data());
  return "[\"" + hexadecimal(entry.name) + "\"," + std::to_string(offset) + ',' + std::to_string(bytes.size()) + ',' +
         std::to_string(onnxar::base::crc32(0, bytes)) + ']';
}

std::string answer(const std::string& file) {
  try {
    const Archive archive = Archive::open(onnxar::as_bytes(file), nullptr);
    std::string entries;
    for (std::size_t i = 0; i < archive.size(); ++i) {
      entries += (i == 0 ? "" : ",") + read_entry(archive, archive.entry(i));
    }
    return "{\"entries\":[" + entries + "]}";
  } catch (const onnxar::Error& error) {
    return "{\"code\":\"" + std::string(id(error.code())) + "\"}";
  }
}

}  // namespace

int main() try {
  std::ios::sync_with_stdio(false);
  for (std::string size; std::getline(std::cin, size);) {
    std::string file(std::stoul(size), '\0');
    if (!std::cin.read(file.data(), static_cast<std::streamsize>(file.size()))) return 1;
    std::cout << answer(file) << '\n';
  }
  return std::cout.flush() ? 0 : 1;
} catch (const std::exception& error) {
  std::cerr << error.what() << '\n';
  return 1;
}
