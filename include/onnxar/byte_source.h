// A run of bytes of known size that is handed out front to back, a piece at a time.
#pragma once

#include <cstdint>
#include <functional>

#include "onnxar/bytes.h"

namespace onnxar {

/// Takes one piece; it is valid only during the call.
using ByteSink = std::function<void(Bytes)>;

/// What a writer copies from: mapped memory, a rope, a conversion, a caller's stream. Weights are never gathered in
/// memory on their way; pieces may be of any size.
class ByteSource {
 public:
  ByteSource() = default;
  ByteSource(const ByteSource&) = default;
  ByteSource& operator=(const ByteSource&) = default;
  virtual ~ByteSource() = default;

  [[nodiscard]] virtual std::uint64_t size() const = 0;
  /// Hands out exactly size() bytes, or throws.
  virtual void read(const ByteSink& sink) const = 0;
};

/// A view as a source.
class SpanSource final : public ByteSource {
 public:
  /// `bytes` must outlive the source.
  explicit SpanSource(Bytes bytes) : bytes_(bytes) {}
  [[nodiscard]] std::uint64_t size() const override { return bytes_.size(); }
  void read(const ByteSink& sink) const override { sink(bytes_); }

 private:
  Bytes bytes_;
};

}  // namespace onnxar
