// A run of bytes of known size that is handed out front to back, a piece at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <span>
#include <utility>

#include "onnxar/bytes.h"
#include "onnxar/error.h"
#include "onnxar/visibility.h"

namespace ONNXAR_API onnxar {

/// Takes one piece; it is valid only during the call.
using ByteSink = std::function<void(Bytes)>;

/// Fills the front of a buffer and returns how many bytes that were; 0 is the end of the stream. The buffer is never
/// longer than what is left to read of the announced size, and there is no call once all of it was read.
using StreamReader = std::function<std::size_t(std::span<std::byte>)>;

/// A range of a file, as something to copy from. The constructor is explicit: `{pointer, length}` stands for bytes in
/// memory, never for a path.
struct FileRange {
  explicit FileRange(std::filesystem::path file, std::uint64_t first = 0, std::optional<std::uint64_t> count = {})
      : path(std::move(file)), offset(first), length(count) {}

  std::filesystem::path path;
  std::uint64_t offset;                 ///< bytes
  std::optional<std::uint64_t> length;  ///< bytes; absent: to the end of the file
};

/// What a writer copies from: mapped memory, a rope, a conversion, a caller's stream. Weights are never gathered in
/// memory on their way; pieces may be of any size.
class ByteSource {
 public:
  ByteSource() = default;
  ByteSource(const ByteSource&) = default;
  ByteSource& operator=(const ByteSource&) = default;
  virtual ~ByteSource() = default;

  [[nodiscard]] virtual std::uint64_t size() const = 0;
  /// Hands out exactly size() bytes, or throws. The library never gives it an empty sink. The sink is good during this
  /// call and takes one piece at a time. What it throws stops the reading: a source that catches it gains nothing, as
  /// the library throws it again. Writers prove the number of bytes (io.source_size), and ask for the size once.
  virtual void read(const ByteSink& sink) const = 0;
};

/// A view as a source.
class SpanSource final : public ByteSource {
 public:
  /// `bytes` must outlive the source.
  explicit SpanSource(Bytes bytes) : bytes_(bytes) {}
  /// Deleted: the view of a temporary would dangle.
  template <TemporaryContainer T>
  explicit SpanSource(T&& bytes) = delete;
  [[nodiscard]] std::uint64_t size() const override { return bytes_.size(); }
  /// Errors: usage.argument (an empty sink).
  void read(const ByteSink& sink) const override {
    if (!sink) throw Error(Code::usage_argument, "the ByteSink that is to take the bytes is empty");
    sink(bytes_);
  }

 private:
  Bytes bytes_;
};

}  // namespace ONNXAR_API onnxar
