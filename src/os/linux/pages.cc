#include "os/pages.h"

#include <sys/mman.h>

#include <cerrno>

#include "os/posix/system.h"

namespace onnxar::os {

std::error_code populate(std::span<const std::byte> bytes) noexcept {
#ifdef MADV_POPULATE_READ
  constexpr int populate_read = MADV_POPULATE_READ;
#else
  constexpr int populate_read = 22;  // the kernel's number, which older C libraries do not define
#endif
  const std::error_code failed = advise(bytes, populate_read);
  if (failed.value() != EINVAL) return failed;
  // Linux before 5.14 does not know this advice. Reading one byte of each page has the same effect, except that a page
  // beyond the end of the file raises SIGBUS.
  read_each_page(bytes);
  return {};
}

void advise_huge_pages(std::span<const std::byte> memory) noexcept { static_cast<void>(advise(memory, MADV_HUGEPAGE)); }

}  // namespace onnxar::os
