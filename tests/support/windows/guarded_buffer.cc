// Bytes next to an inaccessible page, by VirtualAlloc and VirtualProtect.
#include "support/guarded_buffer.h"

#include <algorithm>
#include <system_error>

#include "os/windows/native.h"

namespace onnxar::testing {
namespace {

[[noreturn]] void fail(const char* what) {
  throw std::system_error(static_cast<int>(::GetLastError()), std::system_category(), what);
}

}  // namespace

std::size_t GuardedBuffer::page_size() {
  SYSTEM_INFO system{};
  ::GetSystemInfo(&system);
  return system.dwPageSize;
}

GuardedBuffer GuardedBuffer::ending_at_guard(std::span<const std::byte> bytes) { return {bytes, Side::end}; }

GuardedBuffer GuardedBuffer::starting_after_guard(std::span<const std::byte> bytes) { return {bytes, Side::start}; }

// Layout: guard page, the pages that hold the bytes, guard page.
GuardedBuffer::GuardedBuffer(std::span<const std::byte> bytes, Side side) {
  const std::size_t page = page_size();
  const std::size_t room = (bytes.size() + page - 1) / page * page;
  void* mapping = ::VirtualAlloc(nullptr, room + 2 * page, MEM_RESERVE, PAGE_NOACCESS);
  if (mapping == nullptr) fail("VirtualAlloc");
  std::byte* first = static_cast<std::byte*>(mapping) + page;
  if (room != 0 && ::VirtualAlloc(first, room, MEM_COMMIT, PAGE_READWRITE) == nullptr) fail("VirtualAlloc");
  mapping_ = mapping;
  mapping_size_ = room + 2 * page;
  bytes_ = {side == Side::end ? first + (room - bytes.size()) : first, bytes.size()};
  std::copy(bytes.begin(), bytes.end(), bytes_.begin());
}

void GuardedBuffer::forbid(std::size_t offset, std::size_t size) {
  DWORD before = 0;
  if (::VirtualProtect(bytes_.subspan(offset, size).data(), size, PAGE_NOACCESS, &before) == 0) fail("VirtualProtect");
}

GuardedBuffer::~GuardedBuffer() { ::VirtualFree(mapping_, 0, MEM_RELEASE); }

}  // namespace onnxar::testing
