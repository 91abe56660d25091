// Inflates deflated data (RFC 1951) piece by piece, to exactly the size that is expected.
#include "zip/inflate_source.h"

#include <zlib.h>

#include <algorithm>
#include <cstring>
#include <new>
#include <string>
#include <vector>

#include "base/checked.h"
#include "base/mapped_file.h"
#include "base/text.h"
#include "onnxar/error.h"
#include "zip/directory.h"

namespace onnxar::zip {
namespace {

using base::concat;

/// Owns zlib's state.
class Inflater {
 public:
  Inflater() {
    constexpr int raw_deflate = -MAX_WBITS;  // a zip entry has no zlib header
    if (::inflateInit2(&stream_, raw_deflate) != Z_OK) throw std::bad_alloc();
  }
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;
  ~Inflater() { ::inflateEnd(&stream_); }

  enum class Outcome : std::uint8_t { more, end, damaged };
  struct Step {
    Outcome outcome;
    std::size_t taken;
    std::size_t made;
  };

  /// Takes from the front of `in` and fills the front of `out`.
  Step step(Bytes in, std::span<std::byte> out) {
    constexpr std::size_t largest = 1U << 30U;  // zlib counts in 32 bits
    const auto given = static_cast<uInt>(std::min(in.size(), largest));
    // The cast is safe: zlib does not write to its input, but its interface lacks the const.
    stream_.next_in = const_cast<Bytef*>(reinterpret_cast<const Bytef*>(in.data()));
    stream_.avail_in = given;
    stream_.next_out = reinterpret_cast<Bytef*>(out.data());
    stream_.avail_out = static_cast<uInt>(out.size());
    const int result = ::inflate(&stream_, Z_NO_FLUSH);
    if (result == Z_MEM_ERROR) throw std::bad_alloc();
    const Outcome outcome = result == Z_STREAM_END                      ? Outcome::end
                            : (result == Z_OK || result == Z_BUF_ERROR) ? Outcome::more
                                                                        : Outcome::damaged;
    return {outcome, given - stream_.avail_in, out.size() - stream_.avail_out};
  }

 private:
  z_stream stream_{};
};

}  // namespace

bool can_inflate_to(std::uint64_t compressed, std::uint64_t size) noexcept {
  // RFC 1951: a match copies at most 258 bytes and takes at least two bits, one for its length and one for its
  // distance.
  constexpr std::uint64_t most_from_a_byte = 4ULL * 258;
  const auto most = base::checked_multiply(compressed, most_from_a_byte);
  return !most || size <= *most;
}

void InflateSource::refuse(const std::string& message) const {
  throw Error(Code::zip_data_inflate,  // F34
              message + "; the file was damaged or written wrong: fetch it or write it again", place_);
}

void InflateSource::read(const ByteSink& sink) const {
  constexpr std::uint64_t most = 256U << 10U;  // fits in a core's L2 cache, where the sink reads it again
  std::vector<std::byte> buffer(base::in_memory(std::min(size_, most - 1) + 1));  // a byte more shows a wrong size
  Inflater inflater;
  Bytes rest = compressed_;
  std::uint64_t made = 0;
  for (bool ended = false; !ended;) {
    const Inflater::Step step = inflater.step(rest, buffer);
    rest = rest.subspan(step.taken);
    made += step.made;
    ended = step.outcome == Inflater::Outcome::end;
    if (step.outcome == Inflater::Outcome::damaged) refuse("the compressed data is not a deflate stream");
    // Checked in each step: a few bytes may inflate to terabytes, which must not reach the sink.
    if (made > size_) refuse(base::concat("the entry inflates to more than the ", size_, " bytes that it states"));
    if (step.made != 0) sink(Bytes(buffer).first(step.made));
    if (!ended && step.made == 0 && rest.empty()) refuse("the compressed data ends too early");
  }
  if (made != size_) refuse(base::concat("the entry inflates to ", made, " bytes, but states ", size_));
  if (!rest.empty()) refuse(base::concat(rest.size(), " bytes follow the end of the compressed data"));
}

}  // namespace onnxar::zip
