// Prints how this library reads zip files, for tests that compare other readers on the same files.
//
// Reads files from standard input, each after a line with its size. Prints one line of JSON per file, with three
// readings: {"strict":READING,"reader":READING,"lenient":READING}. "strict" is what every verb reads from an archive,
// stages open, use and check data of the specification; "reader" is the same by reader/onnxar_reader.c, which shares no
// code with the library. "lenient" is what `pack` and `repack` read from a zip file of another maker.
// A READING is {"code":"zip.entry.gap"}, or the entries in order, {"entries":[["5f5f4d",2,"64d1a5a300120008",64],
// ...]}: name in hexadecimal, size, CRC-32 and Adler-32 of the bytes that are handed out, and, for archives, their
// offset. Standard input is used because writing ten thousand files to a disk takes longer than reading them.
#include <zlib.h>

#include <cstdint>
#include <exception>
#include <iostream>
#include <memory>
#include <string>
#include <string_view>

#include "base/crc32.h"
#include "onnxar/archive.h"
#include "onnxar/bytes.h"
#include "onnxar/error.h"
#include "onnxar_reader.h"
#include "zip/end_records.h"
#include "zip/foreign_directory.h"

namespace {

using onnxar::Archive;
using onnxar::ArchiveEntry;
using onnxar::Bytes;
using onnxar::zip::ForeignDirectory;
using onnxar::zip::ForeignEntry;

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

std::string hexadecimal(std::uint32_t value) {
  std::string bytes;
  for (const unsigned shift : {24U, 16U, 8U, 0U}) bytes += static_cast<char>(value >> shift & 0xFFU);
  return hexadecimal(bytes);
}

/// Two checksums, because a file can have two entries with the same CRC-32.
class Digest {
 public:
  void add(Bytes piece) {
    size_ += piece.size();
    crc_ = onnxar::base::crc32(crc_, piece);
    adler_ = static_cast<std::uint32_t>(
        adler32_z(adler_, reinterpret_cast<const unsigned char*>(piece.data()), piece.size()));
  }

  [[nodiscard]] std::string entry(std::string_view name) const {
    return "[\"" + hexadecimal(name) + "\"," + std::to_string(size_) + ",\"" + hexadecimal(crc_) + hexadecimal(adler_) +
           '"';
  }

 private:
  std::uint64_t size_ = 0;
  std::uint32_t crc_ = 0;
  std::uint32_t adler_ = 1;
};

std::string strict_entry(const Archive& archive, const ArchiveEntry& entry) {
  archive.verify(entry);
  const Bytes bytes = archive.bytes(entry);
  Digest digest;
  digest.add(bytes);
  return digest.entry(entry.name) + ',' + std::to_string(bytes.data() - archive.file().data()) + ']';
}

std::string strict(Bytes file) {
  const Archive archive = Archive::open(file, nullptr);
  std::string entries;
  for (std::size_t i = 0; i < archive.size(); ++i) {
    entries += (i == 0 ? "" : ",") + strict_entry(archive, archive.entry(i));
  }
  return entries;
}

/// What onnxar_reader.c refuses.
struct RefusedByReader {
  onnxar_reader_error error = {};
};

std::string reader_entry(const onnxar_reader* archive, std::size_t index) {
  onnxar_reader_error error = {};
  onnxar_reader_entry entry = {};
  onnxar_reader_range range = {};
  if (onnxar_reader_verify(archive, index, &error) < 0) throw RefusedByReader{error};
  if (onnxar_reader_get_entry(archive, index, &entry, &error) < 0) throw RefusedByReader{error};
  if (onnxar_reader_get_data(archive, index, &range, &error) < 0) throw RefusedByReader{error};
  Digest digest;
  digest.add({static_cast<const std::byte*>(range.data), static_cast<std::size_t>(range.size)});
  return digest.entry({entry.name, entry.name_length}) + ',' + std::to_string(range.offset) + ']';
}

std::string reader(Bytes file) {
  onnxar_reader_error error = {};
  onnxar_reader* opened = nullptr;
  if (onnxar_reader_open_memory(file.data(), file.size(), nullptr, &opened, &error) < 0) throw RefusedByReader{error};
  const std::unique_ptr<onnxar_reader, void (*)(onnxar_reader*)> archive(opened, onnxar_reader_close);
  std::string entries;
  for (std::size_t i = 0; i < onnxar_reader_count(opened); ++i) {
    entries += (i == 0 ? "" : ",") + reader_entry(opened, i);
  }
  return entries;
}

std::string lenient(Bytes file) {
  const ForeignDirectory directory = ForeignDirectory::read(file, {});
  std::string entries;
  for (const ForeignEntry& entry : directory.entries()) {
    Digest digest;
    read_verified(file, entry, [&digest](Bytes piece) { digest.add(piece); });
    entries += (entries.empty() ? "" : ",") + digest.entry(entry.name) + ']';
  }
  return entries;
}

std::string reading(std::string (*read)(Bytes), const std::string& file) {
  try {
    return "{\"entries\":[" + read(onnxar::as_bytes(file)) + "]}";
  } catch (const onnxar::Error& error) {
    return "{\"code\":\"" + std::string(id(error.code())) + "\"}";
  } catch (const RefusedByReader& refused) {
    return "{\"code\":\"" + std::string(refused.error.code) + "\"}";
  }
}

}  // namespace

int main() try {
  std::ios::sync_with_stdio(false);
  for (std::string size; std::getline(std::cin, size);) {
    std::string file(std::stoul(size), '\0');
    if (!std::cin.read(file.data(), static_cast<std::streamsize>(file.size()))) return 1;
    std::cout << R"({"strict":)" << reading(strict, file) << R"(,"reader":)" << reading(reader, file)
              << R"(,"lenient":)" << reading(lenient, file) << "}\n";
  }
  return std::cout.flush() ? 0 : 1;
} catch (const std::exception& error) {
  std::cerr << error.what() << '\n';
  return 1;
}
