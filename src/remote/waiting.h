// Reports to the caller that servers keep it waiting.
#pragma once

#include <cstdint>
#include <string>

#include "base/kept.h"
#include "onnxar/remote.h"
#include "remote/address.h"
#include "remote/stall_clock.h"

namespace onnxar {

/// Calls a WaitingCallback as its comment says, during one call that waits for servers.
class Waiting {
 public:
  /// `tell` may be empty.
  explicit Waiting(base::Kept<const WaitingCallback> tell) : tell_(tell) {}
  Waiting(const Waiting&) = delete;
  Waiting& operator=(const Waiting&) = delete;
  ~Waiting();

  /// Records that all servers together sent `bytes` bytes in `time`. `address` is the address of a server that the call
  /// waits for. Throws what the callback throws.
  void pass(StallClock::Duration time, std::uint64_t bytes, const Address& address);

 private:
  const WaitingCallback& tell_;
  StallClock clock_;
  std::string host_;  // the host that was reported; empty if none was
};

}  // namespace onnxar
