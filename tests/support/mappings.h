// The mappings of this process, as the kernel reports them.
#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

namespace onnxar::testing {

struct MappedRange {
  std::uintptr_t begin = 0, end = 0;
  std::string path;          // empty: no file
  std::uint64_t offset = 0;  // of the first byte in the file
};

inline std::vector<MappedRange> mapped_ranges() {
  std::vector<MappedRange> ranges;
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    MappedRange range;
    std::istringstream words(line);
    std::string mode, offset, device, inode;
    char dash = 0;
    words >> std::hex >> range.begin >> dash >> range.end >> mode >> offset >> device >> inode;
    std::getline(words >> std::ws, range.path);
    range.offset = std::stoull(offset, nullptr, 16);
    ranges.push_back(range);
  }
  return ranges;
}

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
  std::size_t count = 0;
  for (const MappedRange& range : mapped_ranges()) count += range.path == file ? 1U : 0U;
  return count;
}

/// Whether the page at `address` is present, so that touching it does not fault.
inline bool is_present(const void* address) {
  const auto page = reinterpret_cast<std::uintptr_t>(address) / static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
  const int pagemap = ::open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
  std::uint64_t entry = 0;
  const ::ssize_t got = ::pread(pagemap, &entry, sizeof(entry), static_cast<::off_t>(page * sizeof(entry)));
  ::close(pagemap);
  if (got != sizeof(entry)) throw std::runtime_error("the page map cannot be read");
  return (entry >> 63U) != 0;
}

}  // namespace onnxar::testing
