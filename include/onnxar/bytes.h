// Bytes and who owns them.
//
// `Bytes` is a view and owns nothing. `ByteSpan` is a view that may carry its storage with it: it is *owned* (the span
// holds its own buffer) or *borrowed* (the storage lives elsewhere), and a borrowed span may hold a share of the owner,
// which keeps the storage alive as long as any copy of the span exists.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <ranges>
#include <span>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "onnxar/error.h"
#include "onnxar/version.h"

namespace ONNXAR_API onnxar {

using Bytes = std::span<const std::byte>;

/// A container with bytes of its own that is gone when the full expression ends. Functions that keep a view of what
/// they are given are deleted for it.
template <typename T>
concept TemporaryContainer =
    !std::is_lvalue_reference_v<T> && std::ranges::contiguous_range<T> && !std::ranges::borrowed_range<T>;

/// Bytes: where data in archives and data files begins unless a caller asks for more. 64 bytes serve every vector
/// instruction, and are a cache line.
inline constexpr std::uint64_t default_alignment = 64;

/// The largest power of two that the address of `bytes` is a multiple of, at most 4096; 4096 for no bytes.
inline std::size_t alignment_of(Bytes bytes) noexcept {
  constexpr std::uintptr_t page = 4096;
  return bytes.empty() ? page
                       : std::size_t{1} << static_cast<unsigned>(
                             std::countr_zero(reinterpret_cast<std::uintptr_t>(bytes.data()) | page));
}

/// The bytes of `text`, as a view of the same storage.
inline Bytes as_bytes(std::string_view text) { return std::as_bytes(std::span(text)); }

/// The characters of `bytes`, as a view of the same storage. No encoding is assumed.
inline std::string_view as_text(Bytes bytes) { return {reinterpret_cast<const char*>(bytes.data()), bytes.size()}; }

/// What to do about the pages of bytes that lie in a mapping.
enum class Prefetch : std::uint8_t {
  none,       ///< each is read when it is first touched
  will_need,  ///< the system reads ahead while the call returns
  populate,   ///< all are in memory when the call returns
};

/// A run of bytes together with what keeps it alive.
///
/// | mode               | storage lives in  | who keeps it alive                  | copying the span        |
/// |--------------------|-------------------|-------------------------------------|-------------------------|
/// | owned              | the span          | the span                            | copies the bytes        |
/// | borrowed + owner   | somewhere shared  | the last span (or copy) with a share| copies pointer and share|
/// | borrowed, no owner | the caller        | the caller, longer than every copy  | copies the pointer      |
///
/// Moving keeps the mode; a moved-from span is empty. Not synchronised: share one between threads only for reading.
class ByteSpan {
 public:
  /// An empty span.
  ByteSpan() = default;

  static ByteSpan own(std::vector<std::byte> buffer) {
    ByteSpan span;
    span.buffer_ = std::move(buffer);
    span.owned_ = true;
    return span;
  }

  /// A view of storage that the caller keeps alive.
  static ByteSpan borrow(Bytes bytes) { return borrow(bytes, nullptr); }
  /// Deleted: the view of a temporary would dangle.
  template <TemporaryContainer T>
  static ByteSpan borrow(T&& bytes) = delete;
  template <TemporaryContainer T>
  static ByteSpan borrow(T&& bytes, std::shared_ptr<const void> owner) = delete;

  /// A view of storage that lives at least as long as `owner`.
  static ByteSpan borrow(Bytes bytes, std::shared_ptr<const void> owner) {
    ByteSpan span;
    span.view_ = bytes;
    span.owner_ = std::move(owner);
    return span;
  }

  ByteSpan(const ByteSpan&) = default;
  ByteSpan& operator=(const ByteSpan&) = default;
  ByteSpan(ByteSpan&& other) noexcept { swap(other); }
  ByteSpan& operator=(ByteSpan&& other) noexcept {
    ByteSpan(std::move(other)).swap(*this);
    return *this;
  }
  ~ByteSpan() = default;

  /// The bytes; valid as long as this span (owned) or its storage (borrowed) lives.
  [[nodiscard]] Bytes bytes() const& noexcept { return owned_ ? Bytes(buffer_) : view_; }
  /// Deleted: the view of a temporary would dangle.
  Bytes bytes() const&& = delete;

  [[nodiscard]] std::size_t size() const noexcept { return owned_ ? buffer_.size() : view_.size(); }
  [[nodiscard]] bool empty() const noexcept { return size() == 0; }
  /// The largest power of two, up to 4096, that the address of the first byte is a multiple of. Elements may be read
  /// through a pointer to their type where it is at least `alignof` of that type.
  [[nodiscard]] std::size_t alignment() const noexcept { return alignment_of(owned_ ? Bytes(buffer_) : view_); }
  [[nodiscard]] bool owned() const noexcept { return owned_; }
  /// The share that keeps borrowed storage alive; null when owned or when the caller keeps it alive.
  [[nodiscard]] const std::shared_ptr<const void>& owner() const noexcept { return owner_; }

 private:
  void swap(ByteSpan& other) noexcept {
    std::swap(buffer_, other.buffer_);
    std::swap(view_, other.view_);
    std::swap(owner_, other.owner_);
    std::swap(owned_, other.owned_);
  }

  std::vector<std::byte> buffer_;
  Bytes view_;
  std::shared_ptr<const void> owner_;
  bool owned_ = false;
};

// --- byte_source.h ---
// A run of bytes of known size that is handed out front to back, a piece at a time.

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

namespace base {
class FileOrigin;
}

/// A run of bytes in memory that a source hands out as a view.
struct Location {
  Bytes bytes;                             ///< alive as long as the source
  bool verified = false;                   ///< `read` compares them with a checksum; who takes them from here does not
  const base::FileOrigin* file = nullptr;  ///< what they are mapped from, for the library's writers; null: no file
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
  /// Tells `visit` where bytes of the source lie, if they lie anywhere before they are read: then a writer can have a
  /// file system share their blocks. A source may tell of none, or of a part, in any order. A source that hands out
  /// the pieces of another one passes the question on.
  virtual void locate(const std::function<void(const Location&)>& /*visit*/) const {}
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
  void locate(const std::function<void(const Location&)>& visit) const override { visit({bytes_}); }

 private:
  Bytes bytes_;
};

}  // namespace ONNXAR_API onnxar
