// Files that are being extended, where a signal handler finds them.
#pragma once

#include <cstdint>

namespace onnxar::base {

/// Notes that what stands behind `size` in the open file is to go if the process has to end. Of more than 16 files at a
/// time the others are not noted.
void note_extended_file(int descriptor, std::uint64_t size) noexcept;
/// REQUIRES: called before the descriptor is closed. Does nothing where it was not noted.
void forget_extended_file(int descriptor) noexcept;
/// Cuts all noted files back. For signal handlers: makes system calls and nothing else. From then on `is_abandoned`.
void cut_back_extended_files() noexcept;
/// Whether the process is about to end: who still writes to a noted file must stop.
bool is_abandoned() noexcept;

}  // namespace onnxar::base
