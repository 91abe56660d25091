#include "base/progress.h"

#include <algorithm>

#include "base/checked.h"

namespace onnxar::base {
namespace {

constexpr std::uint64_t step = 16U << 20U;  // a call per 16 MiB costs nothing, and a bar moves many times a second

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
  // The last call has to say that all is done, however few bytes are left of a step.
  if (!tell_ || (done_ - told_ < step && done_ != total_)) return;
  told_ = done_;
  tell_(done_, total_);
}

void Progress::finish() {
  if (done_ != total_) add(total_ - done_);
}

}  // namespace onnxar::base
