// The mappings of this process, as the system reports them.
#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

namespace onnxar::testing {

struct MappedRange {
  std::uintptr_t begin = 0, end = 0;
  std::filesystem::path path;  // of the file, in the words of `mapped_name`; empty: no file
  std::uint64_t offset = 0;    // of the first byte in the file; Windows does not tell it
};

/// All mappings of files.
std::vector<MappedRange> mapped_ranges();
/// The path of this file in mapped ranges. It must exist. On Windows, it begins with the name of a device.
std::filesystem::path mapped_name(const std::filesystem::path& file);

struct MappedPlace {
  std::filesystem::path path;  // empty: memory
  std::uint64_t offset = 0;    // in the file
};

/// Returns the file and offset that are mapped at `address`.
inline MappedPlace mapped_place_at(const void* address) {
  const auto at = reinterpret_cast<std::uintptr_t>(address);
  for (const MappedRange& range : mapped_ranges()) {
    if (at >= range.begin && at < range.end) return {range.path, range.offset + (at - range.begin)};
  }
  return {};
}

inline std::filesystem::path mapped_file_at(const void* address) { return mapped_place_at(address).path; }

/// Counts the mappings of the file.
inline std::size_t mappings_of(const std::filesystem::path& file) {
  const std::filesystem::path name = mapped_name(file);
  std::size_t count = 0;
  for (const MappedRange& range : mapped_ranges()) count += range.path == name ? 1U : 0U;
  return count;
}

/// Whether the page at `address` is present, so that touching it does not fault.
bool is_present(const void* address);

}  // namespace onnxar::testing
