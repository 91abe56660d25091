// Counts bytes, and calls the caller when a step or the work is done.
#include "base/progress.h"

#include <algorithm>
#include <utility>

#include "base/checked.h"

namespace onnxar::base {
namespace {

constexpr std::uint64_t step = 16U << 20U;  // cheap enough, and a progress bar still moves many times a second

}  // namespace

void Progress::pass(Bytes bytes, const ByteSink& sink) {
  if (!tell_) {
    sink(bytes);
    return;
  }
  while (!bytes.empty()) {
    const Bytes piece = bytes.first(in_memory(std::min<std::uint64_t>(bytes.size(), step - (done_ - told_))));
    sink(piece);
    add(piece.size());
    bytes = bytes.subspan(piece.size());
  }
}

void Progress::add(std::uint64_t bytes) {
  done_ += bytes;
  // The last call reports that the work is done, even if fewer bytes than a step are left.
  if (!tell_ || (done_ - told_ < step && done_ != total_)) return;
  told_ = done_;
  tell_(done_, total_);
}

void Progress::finish() {
  if (done_ != total_) add(total_ - done_);
}

void SharedProgress::add(std::uint64_t bytes) {
  done_ += bytes;
  if (std::this_thread::get_id() != owner_) return;
  const std::uint64_t done = done_;
  progress_.add(done - std::exchange(reported_, done));
}

}  // namespace onnxar::base
