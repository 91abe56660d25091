// What is in an archive: entries, the tensors in them, and where the bytes go.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "onnxar/options.h"
#include "onnxar/tensor.h"

namespace onnxar {

struct ListedEntry {
  std::string name;
  std::uint64_t offset = 0;  ///< of the first byte, absolute
  std::uint64_t size = 0;    ///< bytes
  std::uint32_t crc32 = 0;
  std::uint64_t alignment = 0;      ///< as recorded
  std::uint64_t header_offset = 0;  ///< of the entry's local header, absolute
  std::uint64_t padding = 0;        ///< bytes of the padding record, right before `offset`
  std::vector<TensorInfo> tensors;  ///< those whose data is in this entry; none for a side file
};

struct Listing {
  std::uint64_t file_size = 0;
  std::uint64_t alignment = 0;       ///< what every entry honours: the smallest one recorded
  std::uint64_t unused_bytes = 0;    ///< of earlier states of the model, left by edits
  std::uint64_t padding_bytes = 0;   ///< of padding records
  ListedEntry model;                 ///< the entry of the ModelProto
  std::vector<ListedEntry> entries;  ///< all others, in the order of the file
};

/// Lists an archive. Errors: io.*, zip.*, archive.*, wire.*. Cost: O(directory + model); reads every local header.
[[nodiscard]] Listing list(const std::filesystem::path& path, const LoadOptions& options = {});

}  // namespace onnxar
