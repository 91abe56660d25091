#include "remote/failures.h"

#include <chrono>
#include <string>

#include "base/text.h"

namespace onnxar {
namespace {

using base::concat;

std::string seconds_text(std::chrono::milliseconds time) {
  constexpr auto second = 1000;
  return time.count() % second == 0 ? concat(time.count() / second, " s") : concat(time.count(), " ms");
}

}  // namespace

Error too_slow(const Request& request, const RemoteOptions& options) {
  const Advice advice{Hint::wait_longer};
  if (request.arrived() == 0) return {Code::remote_timeout, "the server did not answer in time", {}, {}, advice};
  return {Code::remote_timeout,
          concat("the server sent less than 1 KiB/s for ", seconds_text(options.stall_timeout)),
          {},
          {},
          advice};
}

Error unreachable(const Request& request) {
  const int status = request.answer().status;
  const std::string what = status >= 400 ? concat("status ", status) : request.failure();
  return {Code::remote_unreachable, concat("the server failed ", request.tries, " times, at last with: ", what)};
}

Error refused(const Answer& answer) {
  switch (answer.status) {
    case 404:
    case 410: return {Code::io_not_found, "the server has no such file"};
    case 401:
    case 403:
    case 407: return {Code::io_permission, concat("the server denies access (status ", answer.status, ")")};
    default: return {Code::remote_refused, concat("the server answers with status ", answer.status)};
  }
}

Error without_ranges() {
  return {Code::remote_no_ranges,
          "the server sends whole files only, so no part of this one can be read",
          {},
          {},
          {Hint::get_whole}};
}

}  // namespace onnxar
