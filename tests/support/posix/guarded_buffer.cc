// Bytes next to an inaccessible page, by mmap and mprotect.
#include "support/guarded_buffer.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>

namespace onnxar::testing {
namespace {

[[noreturn]] void fail(const char* what) { throw std::system_error(errno, std::generic_category(), what); }

}  // namespace

std::size_t GuardedBuffer::page_size() { return static_cast<std::size_t>(::sysconf(_SC_PAGESIZE)); }

GuardedBuffer GuardedBuffer::ending_at_guard(std::span<const std::byte> bytes) { return {bytes, Side::end}; }

GuardedBuffer GuardedBuffer::starting_after_guard(std::span<const std::byte> bytes) { return {bytes, Side::start}; }

// Layout: guard page, the pages that hold the bytes, guard page.
GuardedBuffer::GuardedBuffer(std::span<const std::byte> bytes, Side side) {
  const std::size_t page = page_size();
  const std::size_t room = (bytes.size() + page - 1) / page * page;
  void* mapping = ::mmap(nullptr, room + 2 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapping == MAP_FAILED) fail("mmap");
  std::byte* first = static_cast<std::byte*>(mapping) + page;
  if (room != 0 && ::mprotect(first, room, PROT_READ | PROT_WRITE) != 0) {
    const int reason = errno;
    ::munmap(mapping, room + 2 * page);
    errno = reason;
    fail("mprotect");
  }
  mapping_ = mapping;
  mapping_size_ = room + 2 * page;
  bytes_ = {side == Side::end ? first + (room - bytes.size()) : first, bytes.size()};
  std::copy(bytes.begin(), bytes.end(), bytes_.begin());
}

void GuardedBuffer::forbid(std::size_t offset, std::size_t size) {
  if (::mprotect(bytes_.subspan(offset, size).data(), size, PROT_NONE) != 0) fail("mprotect");
}

GuardedBuffer::~GuardedBuffer() { ::munmap(mapping_, mapping_size_); }

}  // namespace onnxar::testing
