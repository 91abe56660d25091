// What is added to the end of an existing file, and cut off again unless it is kept.
#pragma once

#include <cstdint>

#include "os/file.h"

namespace onnxar::base {

/// Knows how much of a file is old. The file itself is open elsewhere, in the one who writes to it.
class Extension {
 public:
  /// The first `old_size` bytes, which are all of the file, are to stay.
  explicit Extension(std::uint64_t old_size) noexcept : old_size_(old_size) {}

  [[nodiscard]] std::uint64_t old_size() const noexcept { return old_size_; }
  /// Comes before the first change. From then on a signal that ends the process cuts the file back
  /// (extended_files.h), and so does `cut_off`.
  void begin(os::Handle file) noexcept;
  /// From here on signals leave the file alone.
  void leave_to_readers(os::Handle file) const noexcept;
  /// Cuts the file back, if it was changed.
  void cut_off(os::Handle file) const noexcept;

 private:
  std::uint64_t old_size_;
  bool begun_ = false;
};

}  // namespace onnxar::base
