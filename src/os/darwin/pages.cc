#include "os/pages.h"

#include "os/posix/system.h"

namespace onnxar::os {

// No advice of madvise reports pages that cannot be read.
std::error_code populate(std::span<const std::byte> bytes) noexcept {
  read_each_page(bytes);
  return {};
}

// The system chooses the size of pages.
void advise_huge_pages(std::span<const std::byte> /*memory*/) noexcept {}

}  // namespace onnxar::os
