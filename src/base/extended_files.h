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
/// Cuts all noted files back; from then on `is_abandoned` is true. Safe in signal handlers: it only makes system calls
/// and uses lock-free atomics.
void cut_back_extended_files() noexcept;
/// Whether the process is about to end. A thread that writes to a noted file must then stop.
bool is_abandoned() noexcept;

}  // namespace onnxar::base
