// Bytes: views, owners, sources, and files that are read in ranges.
//
//   const onnxar::ByteSpan owned = onnxar::ByteSpan::own(std::vector<std::byte>(100));
//   const onnxar::ByteSpan view = onnxar::ByteSpan::borrow(owned.bytes());  // the caller keeps `owned` alive
//
// Bytes of tensors are raw data as ONNX defines it: numbers are little-endian on every host. Headers that include this
// one use its standard headers, too.
//
// Threads: the library calls callbacks and sources on the thread of the call, one at a time, and never after the call.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <ranges>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "onnxar/error.h"

namespace ONNXAR_API onnxar {

/// A view; owns nothing.
using Bytes = std::span<const std::byte>;

/// A temporary container that owns its bytes. Functions that keep a view of their argument are deleted for it.
template <typename T>
concept TemporaryContainer =
    !std::is_lvalue_reference_v<T> && std::ranges::contiguous_range<T> && !std::ranges::borrowed_range<T>;

/// The default alignment, in bytes: a cache line, enough for every vector instruction.
inline constexpr std::uint64_t default_alignment = 64;
/// The default of every `threshold`, in bytes: payloads of at least this many are kept beside the model.
inline constexpr std::uint64_t default_threshold = 1024;
/// The default of every `max_expansion`: how many times as large as the input an output may be.
inline constexpr std::uint64_t default_expansion = 8;

/// Returns the alignment of the address of `bytes`: a power of two, at most 4096. Returns 4096 for no bytes.
[[nodiscard]] std::size_t alignment_of(Bytes bytes) noexcept;

/// Return a view of the same storage. `as_text` assumes no encoding.
inline Bytes as_bytes(std::string_view text) { return std::as_bytes(std::span(text)); }
inline std::string_view as_text(Bytes bytes) { return {reinterpret_cast<const char*>(bytes.data()), bytes.size()}; }

/// Specifies when the pages of a mapping, or the ranges of a file, are read.
enum class Prefetch : std::uint8_t {
  none,       ///< each page at its first access
  will_need,  ///< in the background: the call starts it and returns
  populate,   ///< before the call returns
};

/// Bytes together with what keeps them alive.
///
/// | mode               | the bytes are in | who keeps them alive                 | copying the span         |
/// |--------------------|------------------|--------------------------------------|--------------------------|
/// | owned              | the span         | the span                             | copies the bytes         |
/// | borrowed + owner   | shared storage   | the last span (or copy) with a share | copies pointer and share |
/// | borrowed, no owner | the caller       | the caller, longer than every copy   | copies the pointer       |
///
/// Moving keeps the mode and empties the source. Threads: several may read one span; changing it needs a lock.
class ByteSpan {
 public:
  ByteSpan() = default;
  static ByteSpan own(std::vector<std::byte> buffer);
  /// Returns a view of storage that `owner` keeps alive; without an owner, the caller does.
  static ByteSpan borrow(Bytes bytes, std::shared_ptr<const void> owner = nullptr);
  template <TemporaryContainer T>
  static ByteSpan borrow(T&& bytes, std::shared_ptr<const void> owner = nullptr) = delete;

  ByteSpan(const ByteSpan&) = default;
  ByteSpan& operator=(const ByteSpan&) = default;
  ByteSpan(ByteSpan&& other) noexcept { swap(other); }
  ByteSpan& operator=(ByteSpan&& other) noexcept {
    ByteSpan(std::move(other)).swap(*this);
    return *this;
  }
  ~ByteSpan() = default;

  /// Returns the bytes; valid as long as this span (owned) or its storage (borrowed).
  [[nodiscard]] Bytes bytes() const& noexcept { return owned_ ? Bytes(buffer_) : view_; }
  Bytes bytes() const&& = delete;

  [[nodiscard]] std::size_t size() const noexcept { return owned_ ? buffer_.size() : view_.size(); }
  [[nodiscard]] bool empty() const noexcept { return size() == 0; }
  /// Returns alignment_of the bytes. If it is at least `alignof(T)`, a little-endian host may read through a `const
  /// T*`.
  [[nodiscard]] std::size_t alignment() const noexcept { return alignment_of(owned_ ? Bytes(buffer_) : view_); }
  [[nodiscard]] bool owned() const noexcept { return owned_; }
  /// Returns the share that keeps borrowed storage alive; null if there is none.
  [[nodiscard]] const std::shared_ptr<const void>& owner() const& noexcept { return owner_; }
  [[nodiscard]] std::shared_ptr<const void> owner() const&& noexcept { return owner_; }

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

/// Receives one piece, which is valid only during the call.
using ByteSink = std::function<void(Bytes)>;

/// Reports `done` of `total` bytes of a long call. Called about every 16 MiB or after a tensor, with growing numbers;
/// the last call has `done == total`, before any output gets its name. An exception passes through and leaves no
/// output.
using ProgressCallback = std::function<void(std::uint64_t done, std::uint64_t total)>;

/// Fills the front of a buffer and returns the number of bytes; 0 ends the stream. The buffer is never longer than the
/// rest of the announced size, and the call that completes that size is the last one.
using StreamReader = std::function<std::size_t(std::span<std::byte>)>;

/// A range of a file to copy. The constructor is explicit, so `{pointer, length}` means memory and never a path.
struct FileRange {
  explicit FileRange(std::filesystem::path file, std::uint64_t first = 0, std::optional<std::uint64_t> count = {})
      : path(std::move(file)), offset(first), length(count) {}

  std::filesystem::path path;
  std::uint64_t offset;                 ///< bytes
  std::optional<std::uint64_t> length;  ///< bytes; absent: to the end of the file
};

// --- Sources ---------------------------------------------------------------------------------------------------------

namespace detail {
struct MappedFrom;
}

/// Bytes in memory that a source provides as views.
struct Location {
  Bytes bytes;                               ///< alive as long as the source
  bool verified = false;                     ///< true if `read` compares them with a checksum: then use only `read`
  const detail::MappedFrom* file = nullptr;  ///< set by this library: the file that they are mapped from
};

/// Bytes of a known size that a writer copies, such as mapped memory, a conversion or a caller's stream. Pieces may
/// have any size, and no writer collects them in memory.
class ByteSource {
 public:
  ByteSource() = default;
  ByteSource(const ByteSource&) = default;
  ByteSource& operator=(const ByteSource&) = default;
  virtual ~ByteSource() = default;

  [[nodiscard]] virtual std::uint64_t size() const = 0;
  /// Passes exactly size() bytes to `sink`, or throws. `sink` is never empty, and valid only during this call, on its
  /// thread. An exception of `sink` ends the reading; the library rethrows it even if the source catches it. Writers
  /// call `size` once, and verify the number of bytes (io.source_size).
  virtual void read(const ByteSink& sink) const = 0;
  /// Visits runs of bytes that are in memory, in any order and not necessarily all of them. Writers call it before
  /// `read`, so that the file system can share the blocks. A source over another source should pass the call on.
  virtual void locate(const std::function<void(const Location&)>& /*visit*/) const {}
};

/// Makes a source of a view; `bytes` must outlive it.
class SpanSource final : public ByteSource {
 public:
  explicit SpanSource(Bytes bytes) : bytes_(bytes) {}
  template <TemporaryContainer T>
  explicit SpanSource(T&& bytes) = delete;
  [[nodiscard]] std::uint64_t size() const override { return bytes_.size(); }
  /// Passes the view to `sink` in one piece. Throws usage.argument (an empty sink).
  void read(const ByteSink& sink) const override;
  void locate(const std::function<void(const Location&)>& visit) const override { visit({bytes_}); }

 private:
  Bytes bytes_;
};

// --- Files that are read in ranges -----------------------------------------------------------------------------------

struct RangeTarget {
  std::uint64_t offset = 0;  ///< bytes
  std::span<std::byte> target;
};

/// A file that is read in ranges, for example from a server or an object store. It must not change while it is open.
/// `Archive::open` reads the end record and the directory first, then only the entries that are used. open_remote
/// (remote.h) makes one for an address.
class RandomAccess {
 public:
  RandomAccess() = default;
  RandomAccess(const RandomAccess&) = delete;
  RandomAccess& operator=(const RandomAccess&) = delete;
  virtual ~RandomAccess() = default;

  /// Returns the size in bytes; the same at every call.
  [[nodiscard]] virtual std::uint64_t size() const = 0;
  /// Fills every target with the bytes at its offset, or throws. The ranges lie in the file, ascend and do not overlap.
  /// There may be thousands of ranges, and large ones: join and split them as the transport needs. All bytes must come
  /// from one version of the file. Called by one thread at a time.
  virtual void read(std::span<const RangeTarget> ranges) const = 0;
  /// Returns a name for error messages, such as the address without secrets. It need not be a path.
  [[nodiscard]] virtual std::filesystem::path name() const { return {}; }
};

/// True if the text begins like an address of remote.h, ignoring case: `http://`, `https://`, `s3://`.
[[nodiscard]] bool is_address(std::string_view text) noexcept;

/// Returns the file that an address names, or null for the path of a local file. For calls that take a path.
using RangesOpener = std::function<std::shared_ptr<const RandomAccess>(const std::filesystem::path& path)>;

namespace detail {
/// Owns the private parts of a class, which can then be moved but not copied.
template <typename Parts>
using Owned = std::unique_ptr<Parts, void (*)(Parts*) noexcept>;

template <typename Parts, typename... Values>
Owned<Parts> own(Values&&... values) {
  return {new Parts{std::forward<Values>(values)...}, [](Parts* parts) noexcept { delete parts; }};
}
}  // namespace detail

}  // namespace ONNXAR_API onnxar
