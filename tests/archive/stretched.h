// Archives of more than 2 GiB, whose data takes no room on the disk.
#pragma once

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string_view>

#include "support/temp_dir.h"
#include "support/zip_builder.h"

namespace onnxar::testing {

/// Writes a file in which the data of the entry `name` is `size` zeros, stored as a hole. Its CRC-32 is wrong. Before
/// other entries, `size` must be a multiple of 64, so that these stay aligned.
inline std::filesystem::path stretched(const TempDir& folder, ZipBuilder builder, std::string_view name,
                                       std::uint64_t size) {
  builder.entry(name).data = {};
  builder.entry(name).in_both([size](HeaderFields& header) {
    header.csize = header.usize = size;
    header.crc = 1;
  });
  const Built close = builder.build_placed();
  bool is_after = false;
  for (ZipEntry& entry : builder.entries) {
    if (is_after) entry.central.header_offset = close.entry(entry.name).header_offset + size;
    is_after = is_after || entry.name == name;
  }
  builder.force_zip64 = close.directory_offset + size >= sentinel;
  Built built = builder.build_placed();
  const std::size_t end = built.bytes.size() - 22, zip64_end = end - 20 - 56;
  if (builder.force_zip64) {
    put_u64(built.bytes, zip64_end + 48, built.directory_offset + size);
    put_u64(built.bytes, zip64_end + 56 + 8, zip64_end + size);
  } else {
    put_u32(built.bytes, end + 16, static_cast<std::uint32_t>(built.directory_offset + size));
  }
  const Bytes before = Bytes(built.bytes).first(built.entry(name).data_offset);
  const Bytes after = Bytes(built.bytes).subspan(before.size());
  std::filesystem::path path = folder.write_file("stretched", before);
  std::filesystem::resize_file(path, before.size() + size);
  std::ofstream(path, std::ios::binary | std::ios::app)
      .write(reinterpret_cast<const char*>(after.data()), static_cast<std::streamsize>(after.size()));
  return path;
}

}  // namespace onnxar::testing
