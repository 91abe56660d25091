// Files that are being extended, kept where a signal handler finds them.
#pragma once

#include <cstdint>

#include "os/file.h"

namespace onnxar::base {

/// Notes that the file is to be cut back to `size` if the process has to end. At most 16 files at a time are noted;
/// further ones are not, and stay extended if the process is killed.
void note_extended_file(os::Handle file, std::uint64_t size) noexcept;
/// Has no effect on a file that was not noted. REQUIRES: the handle is still open.
void forget_extended_file(os::Handle file) noexcept;
/// Cuts all noted files back; from then on `is_abandoned`. For signal handlers: it makes system calls and touches
/// lock-free atomics, nothing else.
void cut_back_extended_files() noexcept;
/// Whether the process is about to end: a thread that writes to a noted file must stop.
bool is_abandoned() noexcept;

}  // namespace onnxar::base
