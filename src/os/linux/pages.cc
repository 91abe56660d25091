#include "os/pages.h"

#include <sys/mman.h>

#include <cerrno>

#include "os/posix/system.h"

namespace onnxar::os {
namespace {

void touch(std::span<const std::byte> bytes) noexcept {
  constexpr std::size_t step = 4096;  // the smallest page size of any supported system
  for (std::size_t i = 0; i < bytes.size(); i += step) {
    static_cast<void>(*static_cast<const volatile std::byte*>(bytes.data() + i));
  }
}

}  // namespace

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
  will_need(bytes);
  touch(bytes);
  return {};
}

void advise_huge_pages(std::span<const std::byte> memory) noexcept { static_cast<void>(advise(memory, MADV_HUGEPAGE)); }

}  // namespace onnxar::os
