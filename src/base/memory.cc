// Prefetches mapped pages, allocates memory, and copies files into memory.
#include "base/memory.h"

#include <algorithm>
#include <new>
#include <system_error>

#include "base/open_file.h"
#include "base/parallel.h"
#include "base/text.h"
#include "onnxar/error.h"
#include "os/pages.h"

namespace onnxar::base {
namespace {

// The number of bytes that a thread reads at a time: large enough for network file systems, small enough to keep all
// threads busy.
constexpr std::size_t piece_size = 8U << 20U;

}  // namespace

void prefetch(Bytes bytes, Prefetch how) {
  if (how == Prefetch::will_need) os::will_need(bytes);
  if (how != Prefetch::populate) return;
  if (const std::error_code failed = os::populate(bytes)) {
    throw Error(Code::io_failed, concat("cannot read a mapped file (", failed.message(),
                                        "): it was shortened, its disk fails, or memory is short"));
  }
}

std::shared_ptr<std::byte> allocate(std::size_t size, std::size_t alignment) {
  std::byte* const memory = os::allocate(size, alignment);
  if (memory == nullptr) throw std::bad_alloc();
  return {memory, os::release};
}

ByteSpan read_in(os::Handle file, const FilePart& part, std::size_t alignment, std::size_t threads,
                 const std::filesystem::path& path) {
  const std::size_t size = examine(file, part, path).length_in_memory(path);
  const std::shared_ptr<std::byte> memory = allocate(size, alignment);
  parallel_for(size / piece_size + 1, threads, [&](std::size_t i) {
    const std::size_t begin = i * piece_size;
    const std::span<std::byte> piece(memory.get() + begin, std::min(piece_size, size - begin));
    read_fully(file, piece, part.offset + begin, path);
  });
  return ByteSpan::borrow(Bytes(memory.get(), size), memory);
}

}  // namespace onnxar::base
