// Sends one request for parts of a file, and checks the answer.
#include "remote/request.h"

#include <algorithm>
#include <cstdint>
#include <new>
#include <span>
#include <utility>

#include "base/annotated.h"
#include "base/byte_range.h"
#include "base/text.h"
#include "onnxar/error.h"
#include "remote/answer.h"

namespace onnxar {
namespace {

using base::concat;
using curl::Option;
using curl::Result;

constexpr std::uint64_t enough_progress = 64U << 10U;  // bytes; fewer could come forever

template <typename T>
void set(curl::Easy* handle, Option option, T value) {
  // Fails for lack of memory, and for options that this libcurl was built without.
  const Result failed = curl::functions().easy_setopt(handle, option, value);
  if (failed == Result::out_of_memory) throw std::bad_alloc();
  if (failed != Result::ok) {
    throw Error(Code::remote_unreachable,
                concat("this libcurl cannot do what is needed: ", curl::functions().easy_strerror(failed)));
  }
}

/// True if another try may succeed.
bool may_pass(Result result) {
  switch (result) {
    case Result::couldnt_resolve_host:
    case Result::couldnt_resolve_proxy:
    case Result::couldnt_connect:
    case Result::partial_file:
    case Result::ssl_connect_error:
    case Result::got_nothing:
    case Result::send_error:
    case Result::recv_error:
    case Result::http2:
    case Result::http2_stream:
    case Result::weird_server_reply:
    case Result::again: return true;
    default: return false;
  }
}

bool is_status_that_passes(int status) {
  return status == 408 || status == 425 || status == 429 || status == 500 || (status >= 502 && status <= 504);
}

void set_secrets(curl::Easy* handle, const Address& address, const RemoteOptions& options, bool is_first_site) {
  if (address.is_s3) {
    if (options.s3.access_key.empty()) return;
    if (curl::functions().version_info(0)->number < curl::first_that_signs) {
      throw Error(Code::remote_no_libcurl,
                  concat("signing requests needs libcurl 7.85 or later; this one is ",
                         curl::functions().version_info(0)->version),
                  {}, {}, {Hint::install_libcurl});
    }
    set(handle, Option::aws_sigv4, concat("aws:amz:", options.s3.region, ":s3").c_str());
    set(handle, Option::username, options.s3.access_key.c_str());
    set(handle, Option::password, options.s3.secret_key.c_str());
    return;
  }
  if (!is_first_site) return;
  if (!options.token.empty() && address.name.empty()) {
    set(handle, Option::httpauth, curl::auth_bearer);
    set(handle, Option::xoauth2_bearer, options.token.c_str());
    return;
  }
  set(handle, Option::netrc, curl::netrc_optional);
  if (!options.netrc.empty()) set(handle, Option::netrc_file, options.netrc.string().c_str());
  if (address.name.empty()) return;
  set(handle, Option::httpauth, curl::auth_basic);
  set(handle, Option::username, address.name.c_str());
  set(handle, Option::password, address.password.c_str());
}

void set_limits(curl::Easy* handle, const RemoteOptions& options) {
  constexpr std::chrono::milliseconds longest{INT32_MAX};  // libcurl takes 0 for a limit of its own
  const auto limit = options.connect_timeout.count() == 0 ? longest : std::min(options.connect_timeout, longest);
  set(handle, Option::connecttimeout_ms, static_cast<long>(limit.count()));
  set(handle, Option::buffersize, 256L << 10U);
}

void set_protocols(curl::Easy* handle, const RemoteOptions& options) {
  set(handle, Option::protocols, curl::proto_http_and_https);
  set(handle, Option::followlocation, 0L);  // redirects are followed one by one: each is checked, and the last is kept
  set(handle, Option::sslversion, curl::sslversion_tlsv1_2);
  set(handle, Option::ssl_verifypeer, 1L);
  set(handle, Option::ssl_verifyhost, 2L);
  if (!options.certificates.empty()) set(handle, Option::cainfo, options.certificates.string().c_str());
  set(handle, Option::nosignal, 1L);
}

}  // namespace

std::string Request::range_text() const {
  if (wanted_ == Wanted::end) return concat("bytes=-", end_length);
  std::string text = "bytes=";
  for (const base::ByteRange& range : ranges_) {
    text += concat(text.back() == '=' ? "" : ",", range.offset, "-", range.end() - 1);
  }
  return text;
}

void Request::prepare(curl::Easy* handle, const Address& address, bool is_first_site, const RemoteOptions& options,
                      const Version& expected) {
  curl::functions().easy_reset(handle);
  address_ = address;
  expected_ = expected;
  answer_ = {};
  body_.clear();
  words_.front() = '\0';
  fault_ = nullptr;
  begun_ = stopped_ = progress_ = false;
  received_ = head_ = 0;
  if (wanted_ == Wanted::whole) ranges_ = {{0, expected.size.value_or(UINT64_MAX)}};  // each try starts at 0
  base::annotated(address.shown, [&] {
    set_fields(handle, options);
    set(handle, Option::url, address.url.c_str());
    set(handle, Option::path_as_is, 1L);  // `..` in a key of S3 is a part of its name
    set(handle, Option::errorbuffer, words_.data());
    set(handle, Option::headerfunction, &Request::take_line);
    set(handle, Option::headerdata, static_cast<void*>(this));
    set(handle, Option::writefunction, &Request::take_body);
    set(handle, Option::writedata, static_cast<void*>(this));
    set_protocols(handle, options);
    set_limits(handle, options);
    set_secrets(handle, address, options, is_first_site);
  });
}

void Request::set_fields(curl::Easy* handle, const RemoteOptions& options) {
  std::vector<std::string> fields = {"Accept-Encoding: identity"};
  if (wanted_ != Wanted::whole) {
    fields.push_back("Range: " + range_text());
    const std::string version = expected_.for_if_range();
    if (!version.empty()) fields.push_back("If-Range: " + version);
  }
  if (address_.is_s3 && !options.s3.access_key.empty()) {
    fields.emplace_back("x-amz-content-sha256: UNSIGNED-PAYLOAD");
    if (!options.s3.session_token.empty()) fields.push_back("x-amz-security-token: " + options.s3.session_token);
  }
  fields_.reset();
  for (const std::string& field : fields) {
    curl::List* const list = curl::functions().slist_append(fields_.get(), field.c_str());
    if (list == nullptr) throw std::bad_alloc();
    static_cast<void>(fields_.release());  // it is the front of `list`
    fields_.reset(list);
  }
  set(handle, Option::httpheader, fields_.get());
}

std::size_t Request::take_line(char* data, std::size_t size, std::size_t count, void* self) noexcept {
  auto& request = *static_cast<Request*>(self);
  return request.guarded([&] { request.take_head({data, size * count}); }) ? size * count : 0;
}

std::size_t Request::take_body(char* data, std::size_t size, std::size_t count, void* self) noexcept {
  auto& request = *static_cast<Request*>(self);
  const bool is_well = request.guarded([&] {
    if (!std::exchange(request.begun_, true)) request.begin_body();
    if (!request.stopped_) request.take(std::as_bytes(std::span(data, size * count)));
  });
  return is_well && !request.stopped_ ? size * count : 0;  // 0 ends the transfer
}

/// Keeps an exception for `finish`: none may pass through libcurl.
template <typename Take>
bool Request::guarded(const Take& take) noexcept try {
  take();
  return true;
} catch (...) {
  fault_ = std::current_exception();
  return false;
}

/// Returns the error for an answer that contradicts the request or itself.
Error Request::wrong(const std::string& what) const { return {Code::remote_answer, what, {}, address_.shown}; }

void Request::take_head(std::string_view line) {
  constexpr std::uint64_t most = 256U << 10U;
  head_ += line.size();
  if (head_ > most) throw wrong("the head of the server's answer does not end");
  answer_.add_line(line);
}

/// Checks the head of an answer that brings bytes.
void Request::begin_body() {
  if (!answer_.has_bytes()) return;
  if (!answer_.encoding.empty()) {
    throw wrong(concat("the server sends the file in the encoding ", base::quoted(answer_.encoding),
                       " although it was asked not to"));
  }
  if (answer_.status == 206) expect_range();
  expect_version();
  // A server may answer with the whole file if it is no longer than the requested range.
  const bool is_short = wanted_ == Wanted::end && answer_.length && *answer_.length <= end_length;
  stopped_ = answer_.status == 200 && wanted_ != Wanted::whole && !is_short;
}

void Request::expect_version() const {
  Version found = answer_.version;
  if (const auto range = answer_.range()) found.size = range->size;
  if (answer_.status == 200) found.size = answer_.length;
  if (expected_.agrees(found)) return;
  throw Error(Code::io_changed, "the file on the server was replaced since it was opened; open it again", {},
              address_.shown);
}

/// Checks that one range in an answer is the one that was asked for. Bytes are never taken from elsewhere.
void Request::expect_range() {
  if (wanted_ == Wanted::ranges) return;  // parts say where they belong, and any part is as good
  const auto found = answer_.range();
  const bool is_right =
      found &&
      (wanted_ == Wanted::end ? found->last + 1 == found->size && found->length() == std::min(end_length, found->size)
                              : wanted_ == Wanted::range && found->first == ranges_.front().offset &&
                                    found->last + 1 == ranges_.front().end());
  if (is_right) return;
  throw wrong(concat("the server was asked for ", range_text(), " and answered with ",
                     base::quoted(answer_.range_text.value_or("no Content-Range"))));
}

void Request::take(Bytes bytes) {
  received_ += bytes.size();
  if (!answer_.has_bytes()) {  // a page that describes the error
    if (received_ <= end_length) return;
    throw wrong(concat(status_text(answer_.status), " and more bytes than an error page may have"));
  }
  if (wanted_ == Wanted::range || wanted_ == Wanted::whole) {
    base::ByteRange& range = ranges_.front();
    if (bytes.size() > range.length) {
      throw wrong("the server sends more bytes than it announced");
    }
    (*receive_)(range.offset, bytes);
    range.offset += bytes.size();
    range.length -= bytes.size();
    return;
  }
  const auto announced = answer_.range();
  std::uint64_t most = wanted_ == Wanted::end && announced ? announced->length() : end_length;
  if (wanted_ == Wanted::ranges) {
    constexpr std::uint64_t part_head = 1024;
    for (const base::ByteRange& range : ranges_) most += range.length + part_head;
  }
  if (body_.size() + bytes.size() > most) {
    throw wrong("the server sends more bytes than were asked for or announced");
  }
  body_.insert(body_.end(), bytes.begin(), bytes.end());
}

/// Hands over the parts of an answer to several ranges, and leaves what is missing in `ranges_`.
void Request::deliver_parts() {
  std::vector<RangePart> parts;
  if (const auto single = answer_.range(); single && single->length() == body_.size()) {
    parts.push_back({*single, body_});
  } else if (auto several = parse_multipart(body_, answer_.type)) {
    parts = std::move(*several);
  }
  for (const RangePart& part : parts) {
    if (expected_.size && part.range.size != *expected_.size) continue;
    (*receive_)(part.range.first, part.bytes);
    std::erase_if(ranges_, [&part](const base::ByteRange& range) {
      return range.offset >= part.range.first && range.end() <= part.range.last + 1;
    });
  }
}

/// True if all bytes of the end have come.
bool Request::is_complete_end() const {
  if (answer_.status == 200) return body_.size() == answer_.length;
  return answer_.range() && body_.size() == answer_.range()->length();
}

std::string Request::failure() const {
  if (result_ == Result::ok) return "received fewer bytes than the server announced";
  // libcurl repeats a proxy's address that it cannot use, with its password.
  const std::string_view words = words_.data();
  const bool has_secret = words.find('@') != std::string_view::npos || words.starts_with("Unsupported proxy");
  if (!words.empty() && !has_secret) return std::string(words);
  const char* const proxy = has_secret ? " (see http_proxy, HTTPS_PROXY and ALL_PROXY)" : "";
  return concat(curl::functions().easy_strerror(result_), proxy);
}

Request::Outcome Request::finish(Result result) {
  result_ = result;
  // Only a range continues where it stopped. Other requests start again, and error pages contain no data.
  progress_ = wanted_ == Wanted::range && answer_.has_bytes() && received_ >= enough_progress;
  if (fault_) std::rethrow_exception(fault_);
  const int status = answer_.status;
  if (stopped_) return wanted_ == Wanted::ranges ? Outcome::too_many : Outcome::no_ranges;
  if (result == Result::operation_timedout) return Outcome::stalled;
  if (result == Result::out_of_memory && !begun_) {  // libcurl's code for a long line
    throw wrong("a line in the head of the server's answer is too long");
  }
  if (result != Result::ok) {
    if (may_pass(result)) return Outcome::again;
    throw Error(Code::remote_unreachable, concat("the server cannot be reached: ", failure()), {}, address_.shown);
  }
  if (status >= 300 && status < 400 && !answer_.location.empty()) return Outcome::redirected;
  if (is_status_that_passes(status)) return Outcome::again;
  if (wanted_ == Wanted::ranges && status == 416) return Outcome::too_many;
  const bool is_empty = status == 416 && answer_.range_text == "bytes */0";  // an empty file has no last bytes
  if (wanted_ == Wanted::end && is_empty) return Outcome::done;
  if (!answer_.has_bytes()) return Outcome::refused;
  if (wanted_ == Wanted::ranges) {
    deliver_parts();
    return ranges_.empty() ? Outcome::done : Outcome::too_many;
  }
  if (wanted_ == Wanted::end) return is_complete_end() ? Outcome::done : Outcome::again;
  if (!begun_) begin_body();  // an answer without a body
  const bool is_endless = wanted_ == Wanted::whole && !expected_.size;
  return is_endless || ranges_.front().length == 0 ? Outcome::done : Outcome::again;
}

}  // namespace onnxar
