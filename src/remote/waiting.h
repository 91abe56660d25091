// Tells the caller that servers keep it waiting.
#pragma once

#include <cstdint>
#include <string>

#include "onnxar/remote.h"
#include "remote/address.h"
#include "remote/stall_clock.h"

namespace onnxar {

/// Calls a WaitingCallback as its comment says, during one call that waits for servers.
class Waiting {
 public:
  /// `tell` must outlive this; it may be empty.
  explicit Waiting(const WaitingCallback& tell) : tell_(tell) {}
  Waiting(const Waiting&) = delete;
  Waiting& operator=(const Waiting&) = delete;
  ~Waiting();

  /// Notes that `bytes` came in `time` from all servers. `address` is that of one that is waited for. Errors: those of
  /// the callback.
  void pass(StallClock::Duration time, std::uint64_t bytes, const Address& address);

 private:
  const WaitingCallback& tell_;
  StallClock clock_;
  std::string host_;  // that was told; empty if none is
};

}  // namespace onnxar
