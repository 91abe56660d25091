#include "sink/progress.h"

#include <algorithm>

#include "base/checked.h"

namespace onnxar {

void Progress::pass(Bytes bytes, const ByteSink& sink) {
  constexpr std::uint64_t step = 16U << 20U;  // a call per 16 MiB costs nothing, and a bar moves many times a second
  if (!tell_) {
    sink(bytes);
    return;
  }
  while (!bytes.empty()) {
    const Bytes piece = bytes.first(base::in_memory(std::min<std::uint64_t>(bytes.size(), step - (done_ - told_))));
    sink(piece);
    done_ += piece.size();
    bytes = bytes.subspan(piece.size());
    // The last call has to say that all is done, however few bytes are left of a step.
    if (done_ - told_ < step && done_ != total_) continue;
    told_ = done_;
    tell_(done_, total_);
  }
}

}  // namespace onnxar
