// Reads files fully, by the calls of each system.
#include "os/file.h"

namespace onnxar::os {

std::size_t read_fully_at(Handle file, std::span<std::byte> target, std::uint64_t offset,
                          std::error_code& failed) noexcept {
  std::size_t done = 0;
  failed.clear();
  while (done < target.size()) {
    const std::size_t got = read_at(file, target.subspan(done), offset + done, failed);
    if (got == 0) break;
    done += got;
  }
  return done;
}

}  // namespace onnxar::os
