#include "base/memory.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <new>
#include <system_error>

#include "base/checked.h"
#include "base/parallel.h"
#include "base/text.h"
#include "onnxar/error.h"

namespace onnxar::base {
namespace {

constexpr std::size_t huge_page = 2U << 20U;
constexpr std::size_t piece_size = 8U << 20U;  // that a thread reads before it takes the next

/// madvise on the pages that `bytes` touch.
int advise(Bytes bytes, int advice) noexcept {
  if (bytes.empty()) return 0;
  const auto page = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
  const std::uintptr_t into_page = reinterpret_cast<std::uintptr_t>(bytes.data()) % page;
  // madvise serves advice that changes memory, too, so it takes no const; this one leaves the bytes alone.
  auto* begin = const_cast<std::byte*>(bytes.data()) - into_page;
  return ::madvise(begin, bytes.size() + into_page, advice) == 0 ? 0 : errno;
}

/// For systems older than MADV_POPULATE_READ (Linux 5.14).
void touch(Bytes bytes) noexcept {
  constexpr std::size_t step = 4096;  // no page is smaller
  for (std::size_t i = 0; i < bytes.size(); i += step) {
    static_cast<void>(*static_cast<const volatile std::byte*>(bytes.data() + i));
  }
}

/// Fills `target` from `offset` of the file on.
void read_fully(int descriptor, std::span<std::byte> target, std::uint64_t offset, const std::filesystem::path& path) {
  while (!target.empty()) {
    const ssize_t got = ::pread(descriptor, target.data(), target.size(), static_cast<off_t>(offset));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) throw system_error(errno, "cannot read", path);
    if (got == 0) {
      throw Error(Code::io_failed, concat("the file was shortened to ", offset, " bytes while it was read"), {}, path);
    }
    target = target.subspan(static_cast<std::size_t>(got));
    offset += static_cast<std::uint64_t>(got);
  }
}

}  // namespace

void will_need(Bytes bytes) noexcept { advise(bytes, MADV_WILLNEED); }

void populate(Bytes bytes) {
#ifdef MADV_POPULATE_READ
  constexpr int populate_read = MADV_POPULATE_READ;
#else
  constexpr int populate_read = 22;  // Linux' number; older C libraries do not name it
#endif
  const int failed = advise(bytes, populate_read);
  if (failed == 0) return;
  if (failed != EINVAL) {
    throw Error(Code::io_failed, concat("a mapped file cannot be read in (", std::generic_category().message(failed),
                                        "): it was shortened, its disk fails, or memory is short"));
  }
  will_need(bytes);
  touch(bytes);
}

void prefetch(Bytes bytes, Prefetch how) {
  switch (how) {
    case Prefetch::none: return;
    case Prefetch::will_need: return will_need(bytes);
    case Prefetch::populate: return populate(bytes);
  }
}

std::shared_ptr<std::byte> allocate(std::size_t size, std::size_t alignment) {
  const bool large = size >= 2 * huge_page;
  alignment = std::max(alignment, large ? huge_page : alignof(std::max_align_t));
  const auto rounded = checked_add(size, alignment - 1);
  void* memory = rounded ? std::aligned_alloc(alignment, *rounded & ~(alignment - 1)) : nullptr;
  if (memory == nullptr) throw std::bad_alloc();
  if (large) ::madvise(memory, size, MADV_HUGEPAGE);  // advice: without huge pages it only takes longer
  return {static_cast<std::byte*>(memory), [](std::byte* bytes) { std::free(bytes); }};
}

ByteSpan read_in(int descriptor, const FilePart& part, std::size_t alignment, std::size_t threads,
                 const std::filesystem::path& path) {
  const std::size_t size = examine(descriptor, part, path).length;
  const std::shared_ptr<std::byte> memory = allocate(size, alignment);
  parallel_for(size / piece_size + 1, threads, [&](std::size_t i) {
    const std::size_t begin = i * piece_size;
    const std::span<std::byte> piece(memory.get() + begin, std::min(piece_size, size - begin));
    read_fully(descriptor, piece, part.offset + begin, path);
  });
  return ByteSpan::borrow(Bytes(memory.get(), size), memory);
}

}  // namespace onnxar::base
