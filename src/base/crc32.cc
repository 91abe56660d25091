// Computes CRC-32 with instructions of the processor if it has them, else with zlib.
#include "base/crc32.h"

#include <zlib.h>

#include <algorithm>
#include <future>
#include <vector>

#ifdef ONNXAR_HAVE_ISAL
#include <isa-l.h>
#endif

#include "base/crc32_fold.h"
#include "base/memory.h"

namespace onnxar::base {
namespace {

std::uint32_t library_crc32(std::uint32_t crc, Bytes bytes) noexcept {
  // An empty span may hold a null pointer. zlib treats that as a request for the initial value and returns 0.
  if (bytes.empty()) return crc;
#ifdef ONNXAR_HAVE_ISAL
  return crc32_gzip_refl(crc, reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size());
#else
  return static_cast<std::uint32_t>(::crc32_z(crc, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()));
#endif
}

/// Sums with prefetching. ISA-L does not prefetch, and the hardware's prefetcher stops at each page border. Prefetching
/// two steps ahead is a fifth faster for bytes that come from memory. Prefetching an address that is not mapped does
/// not fault.
std::uint32_t prefetched_crc32(std::uint32_t crc, Bytes bytes) noexcept {
  constexpr std::size_t step = 2048, ahead = 2 * step, line = 64;
  while (bytes.size() >= ahead + step) {
    for (std::size_t i = ahead; i < ahead + step; i += line) prefetch_line(bytes.data() + i);
    crc = library_crc32(crc, bytes.first(step));
    bytes = bytes.subspan(step);
  }
  return library_crc32(crc, bytes);
}

}  // namespace

std::uint32_t crc32(std::uint32_t crc, Bytes bytes) noexcept {
  // Below this size the libraries are as fast, since folding ends with a whole block that they sum.
  constexpr std::size_t worth_folding = 4 * FoldedCrc32::size;
  if (bytes.size() < worth_folding) return library_crc32(crc, bytes);
  const Fold width = fastest_fold();
  if (width == Fold::none) return prefetched_crc32(crc, bytes);
  const FoldedCrc32 folded = fold_crc32(width, crc, bytes);
  return library_crc32(library_crc32(folded.crc, folded.short_form), folded.rest);
}

std::uint32_t crc32_of(const ByteSource& source) {
  std::uint32_t crc = 0;
  source.read([&crc](Bytes piece) { crc = crc32(crc, piece); });
  return crc;
}

std::uint32_t crc32_in_pieces(std::uint32_t crc, Bytes bytes, Pieces pieces, ThreadPool& threads,
                              const std::function<void(std::size_t, Bytes)>& use) {
  if (bytes.empty()) return crc;
  const std::size_t missing = pieces.size - pieces.first;  // the first piece is the end of a full-size piece
  std::vector<std::uint32_t> sums((bytes.size() + missing + pieces.size - 1) / pieces.size);
  const auto begin = [&](std::size_t i) { return i == 0 ? 0 : i * pieces.size - missing; };
  const auto piece = [&](std::size_t i) {
    return bytes.subspan(begin(i), std::min(begin(i + 1), bytes.size()) - begin(i));
  };
  threads.run(sums.size(), [&](std::size_t i) {
    sums[i] = crc32(0, piece(i));
    use(begin(i), piece(i));
  });
  // Combining takes O(log size) for each piece and needs no second pass over the bytes.
  for (std::size_t i = 0; i < sums.size(); ++i) {
    crc = static_cast<std::uint32_t>(::crc32_combine(crc, sums[i], static_cast<z_off_t>(piece(i).size())));
  }
  return crc;
}

std::uint32_t crc32_while(std::uint32_t crc, Bytes bytes, const std::function<void()>& use, std::size_t threads) {
  // The second thread also runs ahead of `use` and faults in the pages of a mapped file for it. Measured: copying and
  // summing a file takes 0.7 of the time of only copying it.
  if (bytes.size() < worth_a_thread || allowed_threads(threads) < 2) {
    const std::uint32_t sum = crc32(crc, bytes);
    use();
    return sum;
  }
  // `deferred`: if the system refuses a thread, `get` does the work.
  auto sum = std::async(std::launch::async | std::launch::deferred, [crc, bytes] { return crc32(crc, bytes); });
  use();
  return sum.get();
}

}  // namespace onnxar::base
