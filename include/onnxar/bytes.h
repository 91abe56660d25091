// Bytes and who owns them.
//
// `Bytes` is a view and owns nothing. `ByteSpan` is a view that may carry its storage with it: it is *owned* (the span
// holds its own buffer) or *borrowed* (the storage lives elsewhere), and a borrowed span may hold a share of the owner,
// which keeps the storage alive as long as any copy of the span exists.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

namespace onnxar {

using Bytes = std::span<const std::byte>;

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

}  // namespace onnxar
