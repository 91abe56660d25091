// Inflates deflated data (RFC 1951).
#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include "base/kept.h"
#include "onnxar/bytes.h"
#include "onnxar/error.h"

namespace onnxar::zip {

/// True if `compressed` bytes of deflate can inflate to `size` bytes. Allows rejecting a false size before inflating.
bool can_inflate_to(std::uint64_t compressed, std::uint64_t size) noexcept;

/// Inflates `compressed` to exactly `size` bytes. Memory: a buffer and zlib's window of 32 KiB, independent of `size`.
/// Threads: `read` may run several times at once.
class InflateSource final : public ByteSource {
 public:
  /// `place` is the place of the data, for errors.
  InflateSource(base::Kept<Bytes> compressed, std::uint64_t size, Place place)
      : compressed_(compressed), size_(size), place_(std::move(place)) {}

  [[nodiscard]] std::uint64_t size() const override { return size_; }
  /// Throws zip.data.inflate (the stream is damaged, cut short, followed by other bytes, or inflates to another size).
  void read(const ByteSink& sink) const override;

 private:
  [[noreturn]] void refuse(const std::string& message) const;

  Bytes compressed_;
  std::uint64_t size_;
  Place place_;
};

}  // namespace onnxar::zip
