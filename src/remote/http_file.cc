// Reads ranges of a file on a server over HTTP, several at a time, and tries again after failures.
#include "remote/http_file.h"

#include <algorithm>
#include <thread>
#include <utility>

#include "base/byte_range.h"
#include "base/checked.h"
#include "base/kept.h"
#include "base/text.h"
#include "onnxar/error.h"
#include "os/names.h"
#include "remote/answer.h"
#include "remote/pieces.h"
#include "remote/stall_clock.h"
#include "remote/waiting.h"

namespace onnxar {
namespace {

using base::concat;
using Clock = std::chrono::steady_clock;

/// Refuses meaningless limits, and options that would add header fields to a request.
void expect_possible(const RemoteOptions& options) {
  if (options.connections == 0) throw Error(Code::usage_argument, "at least one connection is needed");
  if (options.connect_timeout.count() < 0 || options.stall_timeout.count() < 0) {
    throw Error(Code::usage_argument, "a time limit is negative");
  }
  const S3Options& s3 = options.s3;
  for (const std::string_view text : {std::string_view(options.token), std::string_view(s3.access_key),
                                      std::string_view(s3.session_token), std::string_view(s3.region)}) {
    if (!has_control(text)) continue;
    throw Error(Code::usage_argument, "a token, key or region has a line break or another control character");
  }
}

std::string seconds_text(std::chrono::milliseconds time) {
  constexpr auto second = 1000;
  return time.count() % second == 0 ? concat(time.count() / second, " s") : concat(time.count(), " ms");
}

/// Copies the wanted bytes from those that arrived. The targets are in the order of the file.
void scatter(std::span<const RangeTarget> targets, std::uint64_t offset, Bytes bytes) {
  const auto ends_at_or_before = [](const RangeTarget& target, std::uint64_t at) {
    return target.offset + target.target.size() <= at;
  };
  auto target = std::lower_bound(targets.begin(), targets.end(), offset, ends_at_or_before);
  const std::uint64_t end = offset + bytes.size();
  for (; target != targets.end() && target->offset < end; ++target) {
    const std::uint64_t from = std::max(offset, target->offset);
    const std::uint64_t to = std::min<std::uint64_t>(end, target->offset + target->target.size());
    const Bytes part = base::section(bytes, from - offset, to - from);
    std::ranges::copy(part, target->target.begin() + static_cast<std::ptrdiff_t>(from - target->offset));
  }
}

}  // namespace

/// Runs all requests to their end, as many at the same time as there are connections, and calls `done` with each that
/// is complete. An exception ends all of them.
class HttpFile::Transfers {
 public:
  Transfers(base::Kept<const HttpFile> file, std::deque<Request>& requests, base::Kept<const Done> done)
      : file_(file),
        done_(done),
        waiting_for_(file_.options_.waiting),
        slots_(std::min(file_.options_.connections, requests.size())) {
    for (Request& request : requests) waiting_.push_back(&request);
  }
  Transfers(const Transfers&) = delete;
  Transfers& operator=(const Transfers&) = delete;
  ~Transfers() {
    // Before the handles and the requests are destroyed.
    for (Slot& slot : slots_) static_cast<void>(stop(slot));
  }

  void run() {
    while (true) {
      for (Slot& slot : slots_) start_next(slot);
      const bool is_idle = std::ranges::all_of(slots_, [](const Slot& slot) { return slot.request == nullptr; });
      if (is_idle && waiting_.empty()) return;
      is_idle ? pause() : work();
      int left = 0;
      while (const curl::Message* message = curl::functions().multi_info_read(multi(), &left))
        end(message->handle, message->result);
      watch();
    }
  }

 private:
  struct Slot {
    Request* request = nullptr;
    curl::Owned<curl::Easy> handle = {};
    StallClock clock = {};
    std::uint64_t counted = 0;  // of the bytes that arrived

    std::uint64_t count() { return request->arrived() - std::exchange(counted, request->arrived()); }
  };

  std::uint64_t receive(Slot& slot) {
    const std::uint64_t bytes = slot.count();
    bytes_ += bytes;
    file_.received_ += bytes;
    return bytes;
  }

  [[nodiscard]] curl::Multi* multi() const { return file_.multi_.get(); }

  void start_next(Slot& slot) {
    const auto is_due = [now = Clock::now()](const Request* request) { return request->not_before <= now; };
    const auto next = slot.request == nullptr ? std::ranges::find_if(waiting_, is_due) : waiting_.end();
    if (next == waiting_.end()) return;
    Request& request = **next;
    waiting_.erase(next);
    if (!slot.handle) slot.handle = curl::owned(curl::functions().easy_init());
    const bool is_first_site = file_.now_.site == file_.address_.site;
    request.prepare(slot.handle.get(), file_.now_, is_first_site, file_.options_, file_.version_);
    if (curl::functions().multi_add_handle(multi(), slot.handle.get()) != curl::Result::ok) throw std::bad_alloc();
    slot.request = &request;
    slot.clock.restart();
    slot.counted = 0;
  }

  Request* stop(Slot& slot) noexcept {
    if (slot.request != nullptr) curl::functions().multi_remove_handle(multi(), slot.handle.get());
    return std::exchange(slot.request, nullptr);
  }

  void pause() const {
    constexpr std::chrono::milliseconds most{100};  // between calls of `watch`
    const Request* const next = *std::ranges::min_element(waiting_, {}, due);
    std::this_thread::sleep_until(std::min(next->not_before, Clock::now() + most));
  }
  static Clock::time_point due(const Request* request) { return request->not_before; }

  void work() const {
    constexpr int milliseconds = 50;  // at most, so that requests that pause are begun in time
    int running = 0;
    if (curl::functions().multi_perform(multi(), &running) != curl::Result::ok) throw std::bad_alloc();
    if (running != 0) curl::functions().multi_poll(multi(), nullptr, 0, milliseconds, nullptr);
  }

  /// Breaks off the transfers that are too slow.
  void watch() {
    const auto now = Clock::now();
    const auto time = std::chrono::duration_cast<StallClock::Duration>(now - std::exchange(watched_, now));
    const auto limit = file_.options_.stall_timeout;
    const Address* address = &file_.now_;
    for (Slot& slot : slots_) {
      if (slot.request == nullptr) continue;
      slot.clock.pass(time, receive(slot));
      address = &slot.request->address();
      if (limit.count() != 0 && slot.clock.waited() >= limit) end(slot.handle.get(), curl::Result::operation_timedout);
    }
    waiting_for_.pass(time, std::exchange(bytes_, 0), *address);
  }

  void end(curl::Easy* handle, curl::Result result) {
    Slot& slot = *std::ranges::find(slots_, handle, [](const Slot& each) { return each.handle.get(); });
    receive(slot);
    Request& request = *stop(slot);
    // libcurl refuses the options of a next try to a handle whose host has no address.
    if (result != curl::Result::ok) slot.handle.reset();
    const Request::Outcome outcome = request.finish(result);
    // The first request shows what a server cannot do; `open` decides.
    const bool is_first = outcome == Request::Outcome::no_ranges && request.wanted() == Wanted::end;
    if (outcome == Request::Outcome::done || is_first) return done_(request);
    if (outcome == Request::Outcome::too_many) return;  // the caller asks for what is missing
    file_.settle(request, outcome);
    waiting_.push_front(&request);
  }

  const HttpFile& file_;
  const Done& done_;
  Waiting waiting_for_;
  Clock::time_point watched_ = Clock::now();
  std::uint64_t bytes_ = 0;  // that arrived since then
  std::deque<Request*> waiting_;
  std::vector<Slot> slots_;
};

HttpFile::HttpFile(std::string_view address, const RemoteOptions& options, WholeFiles whole)
    : options_((expect_possible(options), options)),  // before anything needs libcurl
      address_(parse_address(address, options)),
      now_(address_),
      random_(std::random_device{}()),
      multi_(curl::owned(curl::functions().multi_init())) {
  open(whole);
}

void HttpFile::open(WholeFiles whole) {
  const Receive nothing = [](std::uint64_t, Bytes) {};
  std::deque<Request> requests;
  requests.emplace_back(Wanted::end, std::vector<base::ByteRange>(), nothing);
  run(requests, [this](Request& request) {
    const Answer& answer = request.answer();
    version_ = answer.version;
    end_ = std::move(request.body());
    if (const auto range = answer.range()) version_.size = range->size;
    if (answer.status == 200) version_.size = answer.length;
    if (answer.status == 416) version_.size = 0;
    has_ranges_ = version_.size && (answer.status != 200 || end_.size() == *version_.size);
  });
  if (!has_ranges_ && whole == WholeFiles::refused) refuse_whole_files();
  const bool is_identified = !version_.etag.empty() || !version_.last_modified.empty() || end_.size() == size();
  if (is_identified || !has_ranges_) return;
  has_ranges_ = false;  // one answer is of one version
  if (whole == WholeFiles::allowed) return;
  fail(Code::remote_answer,
       "the server sends neither ETag nor Last-Modified, so a replaced file would not be noticed while it is "
       "read",
       {Hint::get_whole});
}

std::string HttpFile::version_text() const {
  if (!has_ranges_) return {};
  const std::string& version = version_.etag.empty() ? version_.last_modified : version_.etag;
  return version.empty() ? version : concat(version, " ", os::text_of(address_.shown));
}

void HttpFile::read(std::span<const RangeTarget> ranges) const {
  const std::uint64_t end_at = size() - end_.size();
  scatter(ranges, end_at, end_);
  const std::vector<base::ByteRange> pieces = pieces_of(ranges, end_at);
  if (pieces.empty()) return;
  if (!has_ranges_) refuse_whole_files();
  const Receive receive = [&ranges](std::uint64_t offset, Bytes bytes) { scatter(ranges, offset, bytes); };
  fetch(pieces, receive);
}

void HttpFile::fetch(std::span<const base::ByteRange> ranges, const Receive& receive) const {
  if (takes_several_ && ranges.size() > 2 * options_.connections) return fetch_several(ranges, receive);
  fetch_each(ranges, receive);
}

void HttpFile::fetch_each(std::span<const base::ByteRange> ranges, const Receive& receive) const {
  std::deque<Request> requests;
  for (const base::ByteRange& range : ranges) requests.emplace_back(Wanted::range, std::vector{range}, receive);
  run(requests, [](Request&) {});
}

/// Requests many small ranges in a few requests, and then one by one the ranges that the server left out.
void HttpFile::fetch_several(std::span<const base::ByteRange> ranges, const Receive& receive) const {
  std::deque<Request> requests;
  for (std::vector<base::ByteRange>& part : bundles_of(ranges)) {
    const Wanted wanted = part.size() == 1 ? Wanted::range : Wanted::ranges;
    requests.emplace_back(wanted, std::move(part), receive);
  }
  run(requests, [](Request&) {});
  std::vector<base::ByteRange> missing;
  for (const Request& request : requests) {
    if (request.wanted() == Wanted::range) continue;
    missing.insert(missing.end(), request.missing().begin(), request.missing().end());
  }
  if (missing.empty()) return;
  takes_several_ = false;
  std::ranges::sort(missing, {}, &base::ByteRange::offset);
  fetch_each(nearly_touching_joined(missing), receive);
}

void HttpFile::fetch_whole(const Receive& receive) const {
  std::deque<Request> requests;
  requests.emplace_back(Wanted::whole, std::vector<base::ByteRange>(), receive);
  run(requests, [](Request&) {});
}

void HttpFile::run(std::deque<Request>& requests, const Done& done) const { Transfers(*this, requests, done).run(); }

/// Decides how a request that is not complete goes on. Throws what `open_remote` throws.
void HttpFile::settle(Request& request, Request::Outcome outcome) const {
  switch (outcome) {
    case Request::Outcome::again: return try_again(request, false);
    case Request::Outcome::stalled: return try_again(request, true);
    case Request::Outcome::redirected: return follow(request);
    case Request::Outcome::refused: return renew_or_refuse(request);
    default: refuse_whole_files();
  }
}

void HttpFile::follow(Request& request) const {
  constexpr std::size_t most_redirects = 10;
  if (++request.redirects > most_redirects) fail(Code::remote_answer, "the server redirects again and again");
  now_ = redirected(request.address(), request.answer().location);
}

/// A redirect target is refused once its signature has expired; the original address then redirects to a new one.
void HttpFile::renew_or_refuse(Request& request) const {
  const bool was_redirected = request.address().url != address_.url;
  if (!was_redirected || request.renewed) refuse(request.answer().status);
  request.renewed = true;
  request.redirects = 0;
  now_ = address_;
}

void HttpFile::try_again(Request& request, bool stalled) const {
  constexpr std::size_t most_stalls = 1;  // each takes long
  request.tries = request.has_progress() ? 1 : request.tries + 1;
  request.stalls = (request.has_progress() ? 0 : request.stalls) + (stalled ? 1 : 0);
  request.renewed = request.renewed && !request.has_progress();
  if (request.tries > options_.retries || request.stalls > most_stalls) give_up(request, stalled);
  // Half of the pause is random, so that readers that failed together do not come back together.
  const double share = std::uniform_real_distribution<>(0.5, 1)(random_);
  const auto grown = options_.pause * (1LL << std::min<std::size_t>(request.tries - 1, 10));
  auto pause = std::chrono::duration_cast<std::chrono::milliseconds>(grown * share);
  constexpr std::chrono::seconds longest{60};  // a server that asks for more is treated as unavailable
  const Answer& answer = request.answer();
  if (answer.retry_after) pause = std::max<std::chrono::milliseconds>(pause, std::min(*answer.retry_after, longest));
  request.not_before = Clock::now() + pause;
  // The redirect target may no longer exist.
  if (request.tries > 1 || stalled) now_ = address_;
  request.redirects = 0;
}

void HttpFile::give_up(const Request& request, bool stalled) const {
  const int status = request.answer().status;
  const std::string last = status >= 400 ? concat("status ", status) : request.failure();
  if (!stalled)
    fail(Code::remote_unreachable, concat("the server failed ", request.tries, " times, most recently with: ", last));
  fail(Code::remote_timeout,
       request.arrived() == 0 ? "the server did not answer in time"
                              : concat("the server sent less than ", StallClock::least_speed / 1024, " KiB/s for ",
                                       seconds_text(options_.stall_timeout)),
       {Hint::wait_longer});
}

/// Handles an answer whose status is not a success.
void HttpFile::refuse(int status) const {
  switch (status) {
    case 404:
    case 410: fail(Code::io_not_found, "the server has no such file");
    case 401:
    case 403:
    case 407: fail(Code::io_permission, concat("the server denies access (status ", status, ")"));
    default: fail(Code::remote_refused, status_text(status));
  }
}

void HttpFile::refuse_whole_files() const {
  fail(Code::remote_no_ranges, "the server sends whole files only, so no part of this one can be read",
       {Hint::get_whole});
}

void HttpFile::fail(Code code, const std::string& what, Advice advice) const {
  throw Error(code, what, {}, address_.shown, std::move(advice));
}

}  // namespace onnxar
