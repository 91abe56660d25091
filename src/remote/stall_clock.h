// Detects transfers that are too slow.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>

namespace onnxar {

/// Measures for how long a transfer has got less than `least_speed`. The time starts again whenever the bytes since its
/// start reach that speed, so a burst before a silence does not count for the silence.
class StallClock {
 public:
  using Duration = std::chrono::microseconds;
  static constexpr std::uint64_t least_speed = 1024;  ///< bytes a second

  /// Notes that `bytes` came in `time`. Of more than a second only one counts: the caller was busy or stopped itself,
  /// since it waits for servers in shorter steps.
  void pass(Duration time, std::uint64_t bytes) noexcept {
    waited_ += std::min<Duration>(time, std::chrono::seconds(1));
    bytes_ += bytes;
    const auto wanted = static_cast<std::uint64_t>(waited_.count()) * least_speed / 1'000'000;
    if (bytes_ != 0 && bytes_ >= wanted) restart();
  }
  void restart() noexcept { *this = {}; }
  /// The time since the speed was last reached, or since the start.
  [[nodiscard]] Duration waited() const noexcept { return waited_; }

 private:
  Duration waited_{0};
  std::uint64_t bytes_ = 0;
};

}  // namespace onnxar
