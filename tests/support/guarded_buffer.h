// Bytes next to an inaccessible page, so that reading one byte too far always faults.
#pragma once

#include <cstddef>
#include <span>

namespace onnxar::testing {

/// A copy of some bytes whose end (or start) is the border of an inaccessible page. The other side has an
/// inaccessible page too, less than one page away. No alignment is promised for a buffer that ends at the
/// border.
class GuardedBuffer {
 public:
  static GuardedBuffer ending_at_guard(std::span<const std::byte> bytes);
  static GuardedBuffer starting_after_guard(std::span<const std::byte> bytes);

  GuardedBuffer(const GuardedBuffer&) = delete;
  GuardedBuffer& operator=(const GuardedBuffer&) = delete;
  ~GuardedBuffer();

  /// Valid as long as the buffer lives.
  [[nodiscard]] std::span<const std::byte> bytes() const& { return bytes_; }
  [[nodiscard]] std::span<std::byte> writable() & { return bytes_; }

  /// Makes these bytes, whole pages, inaccessible from now on.
  void forbid(std::size_t offset, std::size_t size);
  static std::size_t page_size();
  std::span<const std::byte> bytes() const&& = delete;

 private:
  enum class Side : bool { end, start };
  GuardedBuffer(std::span<const std::byte> bytes, Side side);

  void* mapping_ = nullptr;
  std::size_t mapping_size_ = 0;
  std::span<std::byte> bytes_;
};

}  // namespace onnxar::testing
