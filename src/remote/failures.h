// The errors of requests that are given up. They have no path: the caller knows the address that the user gave.
#pragma once

#include "onnxar/error.h"
#include "onnxar/remote.h"
#include "remote/answer.h"
#include "remote/request.h"

namespace onnxar {

/// For a request whose last try was too slow.
Error too_slow(const Request& request, const RemoteOptions& options);
/// For a request that failed again and again.
Error unreachable(const Request& request);
/// For an answer whose status is not one of success.
Error refused(const Answer& answer);
/// For a server that sends whole files only.
Error without_ranges();

}  // namespace onnxar
