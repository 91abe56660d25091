// Records files that are being extended in fixed places, which a signal handler may read.
#include "base/extended_files.h"

#include <algorithm>
#include <array>
#include <atomic>

#include "os/process.h"

namespace onnxar::base {
namespace {

struct ExtendedFile {
  std::atomic<os::Handle> file = free_place;
  std::atomic<std::uint64_t> size = 0;

  static constexpr os::Handle free_place = os::Handle::none, being_filled{-2};
};

// Fixed places with atomics instead of a list with a lock: the interrupted thread could hold that lock, and a signal
// handler must not allocate. 16 places suffice for programs that edit a few archives at a time.
std::array<ExtendedFile, 16> files;
std::atomic<bool> abandoned = false;
// The threads inside an ExtendingWrite; 0 marks a free place. Not a thread_local flag, because its first use in a
// handler may allocate.
std::array<std::atomic<std::uintptr_t>, 64> writing;
static_assert(std::atomic<os::Handle>::is_always_lock_free && std::atomic<std::uint64_t>::is_always_lock_free);

bool is_noted(const ExtendedFile& place) noexcept {
  const os::Handle file = place.file;
  return file != ExtendedFile::free_place && file != ExtendedFile::being_filled;
}

void change_one(std::uintptr_t from, std::uintptr_t to) noexcept {
  for (std::atomic<std::uintptr_t>& place : writing) {
    std::uintptr_t expected = from;
    if (place.compare_exchange_strong(expected, to)) return;
  }
}

void end_write() noexcept { change_one(os::current_thread(), 0); }

}  // namespace

void note_extended_file(os::Handle file, std::uint64_t size) noexcept {
  for (ExtendedFile& place : files) {
    os::Handle expected = ExtendedFile::free_place;
    if (!place.file.compare_exchange_strong(expected, ExtendedFile::being_filled)) continue;
    place.size = size;  // before the handle, which marks the place as used
    place.file = file;
    return;
  }
}

void forget_extended_file(os::Handle file) noexcept {
  for (ExtendedFile& place : files) {
    os::Handle expected = file;
    if (place.file.compare_exchange_strong(expected, ExtendedFile::free_place)) return;
  }
}

void cut_back_extended_files() noexcept {
  abandoned = true;
  if (std::ranges::none_of(files, is_noted)) return;
  // Another thread may be about to write, which would extend the file again. It registers before it calls
  // `is_abandoned`, so it either stops or is waited for. The write that this handler interrupted does not continue.
  end_write();
  const auto writes = [] { return std::ranges::any_of(writing, [](const auto& thread) { return thread != 0; }); };
  for (int waited = 0; writes() && waited < 2000; ++waited) os::pause(1);
  for (const ExtendedFile& place : files) {
    if (is_noted(place)) static_cast<void>(os::set_size(place.file, place.size));
  }
}

bool is_abandoned() noexcept { return abandoned; }

ExtendingWrite::ExtendingWrite() noexcept { change_one(0, os::current_thread()); }

ExtendingWrite::~ExtendingWrite() { end_write(); }

}  // namespace onnxar::base
