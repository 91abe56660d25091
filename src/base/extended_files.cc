#include "base/extended_files.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <ctime>

namespace onnxar::base {
namespace {

struct ExtendedFile {
  std::atomic<int> descriptor = free_place;
  std::atomic<std::uint64_t> size = 0;

  static constexpr int free_place = -1, being_filled = -2;
};

// Handlers may not wait for a lock, so there is none.
std::array<ExtendedFile, 16> files;
std::atomic<bool> abandoned = false;
static_assert(std::atomic<int>::is_always_lock_free && std::atomic<std::uint64_t>::is_always_lock_free);

}  // namespace

void note_extended_file(int descriptor, std::uint64_t size) noexcept {
  for (ExtendedFile& file : files) {
    int expected = ExtendedFile::free_place;
    if (!file.descriptor.compare_exchange_strong(expected, ExtendedFile::being_filled)) continue;
    file.size = size;
    file.descriptor = descriptor;
    return;
  }
}

void forget_extended_file(int descriptor) noexcept {
  for (ExtendedFile& file : files) {
    int expected = descriptor;
    if (file.descriptor.compare_exchange_strong(expected, ExtendedFile::free_place)) return;
  }
}

void cut_back_extended_files() noexcept {
  abandoned = true;
  const auto noted = [](const ExtendedFile& file) { return file.descriptor >= 0; };
  if (std::ranges::none_of(files, noted)) return;
  // A write that another thread has begun ends first; it begins no other.
  constexpr timespec moment{0, 20'000'000};
  ::nanosleep(&moment, nullptr);
  for (const ExtendedFile& file : files) {
    if (!noted(file)) continue;
    [[maybe_unused]] const int ignored = ::ftruncate(file.descriptor, static_cast<off_t>(file.size.load()));
  }
}

bool is_abandoned() noexcept { return abandoned; }

}  // namespace onnxar::base
