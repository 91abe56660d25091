// Keeps track of files that are being extended, so that a signal handler can cut them back.
#pragma once

#include <cstdint>

#include "os/file.h"

namespace onnxar::base {

/// Notes that the file is to be cut back to `size` if a signal ends the process. At most 16 files are noted at a time;
/// further files stay extended in that case.
void note_extended_file(os::Handle file, std::uint64_t size) noexcept;
/// Forgets the file. Has no effect on a file that was not noted. REQUIRES: the handle is still open.
void forget_extended_file(os::Handle file) noexcept;
/// Cuts all noted files back; from then on `is_abandoned` is true. First waits until the `ExtendingWrite`s of other
/// threads have ended, for 2 s at most. Safe in signal handlers: it only makes system calls and uses lock-free atomics.
void cut_back_extended_files() noexcept;
/// Whether the process is about to end. A thread that writes to a noted file must then stop.
bool is_abandoned() noexcept;

/// Must live from before `is_abandoned` is asked until the write has ended. A thread has one at a time. More
/// than 64 threads at a time are not waited for.
class ExtendingWrite {
 public:
  ExtendingWrite() noexcept;
  ExtendingWrite(const ExtendingWrite&) = delete;
  ExtendingWrite& operator=(const ExtendingWrite&) = delete;
  ~ExtendingWrite();
};

}  // namespace onnxar::base
