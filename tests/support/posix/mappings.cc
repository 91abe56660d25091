// The mappings of this process, from /proc/self.
#include "support/mappings.h"

#include <fcntl.h>
#include <unistd.h>

#include <fstream>
#include <sstream>
#include <stdexcept>

namespace onnxar::testing {

std::vector<MappedRange> mapped_ranges() {
  std::vector<MappedRange> ranges;
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    MappedRange range;
    std::istringstream words(line);
    std::string mode, offset, device, inode;
    char dash = 0;
    words >> std::hex >> range.begin >> dash >> range.end >> mode >> offset >> device >> inode;
    std::string path;
    std::getline(words >> std::ws, path);
    range.path = path;
    range.offset = std::stoull(offset, nullptr, 16);
    ranges.push_back(range);
  }
  return ranges;
}

std::filesystem::path mapped_name(const std::filesystem::path& file) { return file; }

bool is_present(const void* address) {
  const auto page = reinterpret_cast<std::uintptr_t>(address) / static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
  const int pagemap = ::open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
  std::uint64_t entry = 0;
  const ::ssize_t got = ::pread(pagemap, &entry, sizeof(entry), static_cast<::off_t>(page * sizeof(entry)));
  ::close(pagemap);
  if (got != sizeof(entry)) throw std::runtime_error("the page map cannot be read");
  return (entry >> 63U) != 0;
}

}  // namespace onnxar::testing
