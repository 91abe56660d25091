// Bytes added to the end of an existing file, which are cut off again unless they are kept.
#pragma once

#include <cstdint>

#include "os/file.h"

namespace onnxar::base {

/// Knows how much of a file is old. The caller, which writes to the file, owns the handle.
class Extension {
 public:
  /// Keeps the first `old_size` bytes, which are the whole file.
  explicit Extension(std::uint64_t old_size) noexcept : old_size_(old_size) {}

  [[nodiscard]] std::uint64_t old_size() const noexcept { return old_size_; }
  /// Must be called before the first change. From then on a signal that ends the process, or `cut_off`, cuts the file
  /// back (extended_files.h).
  void begin(os::Handle file) noexcept;
  /// Ends the protection: from here on a signal does not cut the file back.
  void leave_to_readers(os::Handle file) const noexcept;
  /// Cuts the file back, if it was changed.
  void cut_off(os::Handle file) const noexcept;

 private:
  std::uint64_t old_size_;
  bool begun_ = false;
};

}  // namespace onnxar::base
