// Reports how long servers keep the caller waiting.
#include "remote/waiting.h"

#include <chrono>
#include <string_view>
#include <utility>

#include "remote/stall_clock.h"

namespace onnxar {
namespace {

using std::chrono::milliseconds;

/// Returns the host, and its port unless it is the usual one.
std::string host_of(const Address& address) {
  const std::string_view port = address.is_encrypted() ? ":443" : ":80";
  std::string_view host = address.site;
  host.remove_prefix(host.find("://") + 3);
  if (host.ends_with(port)) host.remove_suffix(port.size());
  return std::string(host);
}

}  // namespace

Waiting::~Waiting() {
  if (host_.empty()) return;
  try {
    tell_(host_, milliseconds(0));
  } catch (...) {  // NOLINT(bugprone-empty-catch): the call ends anyway, with an error of its own or without one
  }
}

void Waiting::pass(StallClock::Duration time, std::uint64_t bytes, const Address& address) {
  if (!tell_) return;
  clock_.pass(time, bytes);
  if (clock_.waited() >= std::chrono::seconds(1)) {
    host_ = host_of(address);
    tell_(host_, std::chrono::duration_cast<milliseconds>(clock_.waited()));
  } else if (!host_.empty()) {
    tell_(std::exchange(host_, {}), milliseconds(0));
  }
}

}  // namespace onnxar
