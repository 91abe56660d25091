// Records files that are being extended, so that a signal handler can cut them back.
#pragma once

#include <cstdint>

#include "os/file.h"

namespace onnxar::base {

/// Records that the file must be cut back to `size` if a signal ends the process.
void note_extended_file(os::Handle file, std::uint64_t size) noexcept;

/// Removes the record of a file. Has no effect if there is none. REQUIRES: the handle is still open.
void forget_extended_file(os::Handle file) noexcept;

/// Truncates all files that are being extended to their old sizes, and makes `is_abandoned` true. Records at most 16
/// files at a time; further ones stay extended. First waits, for 2 s at most, until the `ExtendingWrite`s of other
/// threads have ended. Safe in signal handlers: only makes system calls and uses lock-free atomics.
void cut_back_extended_files() noexcept;
/// True if the process is about to end. A thread that writes to a recorded file must then stop.
bool is_abandoned() noexcept;

/// Marks that this thread is writing. Must live from before the call of `is_abandoned` until the write has ended. A
/// thread may have one at a time. `cut_back_extended_files` waits for at most 64 threads.
class ExtendingWrite {
 public:
  ExtendingWrite() noexcept;
  ExtendingWrite(const ExtendingWrite&) = delete;
  ExtendingWrite& operator=(const ExtendingWrite&) = delete;
  ~ExtendingWrite();
};

}  // namespace onnxar::base
