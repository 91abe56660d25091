#include "remote/request.h"

#include <algorithm>
#include <cstdint>
#include <new>
#include <span>
#include <utility>

#include "base/checked.h"
#include "base/text.h"
#include "onnxar/error.h"

namespace onnxar {
namespace {

using base::concat;

constexpr std::uint64_t enough_progress = 64U << 10U;  // bytes; fewer could come forever

template <typename T>
void set(CURL* handle, CURLoption option, T value) {
  // Fails for lack of memory, and for options that this libcurl was built without.
  const CURLcode failed = curl_easy_setopt(handle, option, value);
  if (failed == CURLE_OUT_OF_MEMORY) throw std::bad_alloc();
  if (failed != CURLE_OK) {
    throw Error(Code::remote_unreachable,
                concat("this libcurl cannot do what is needed: ", curl_easy_strerror(failed)));
  }
}

/// A failure that another try may not have.
bool may_pass(CURLcode result) {
  switch (result) {
    case CURLE_COULDNT_RESOLVE_HOST:
    case CURLE_COULDNT_RESOLVE_PROXY:
    case CURLE_COULDNT_CONNECT:
    case CURLE_PARTIAL_FILE:
    case CURLE_SSL_CONNECT_ERROR:
    case CURLE_GOT_NOTHING:
    case CURLE_SEND_ERROR:
    case CURLE_RECV_ERROR:
    case CURLE_HTTP2:
    case CURLE_HTTP2_STREAM:
    case CURLE_WEIRD_SERVER_REPLY:
    case CURLE_AGAIN: return true;
    default: return false;
  }
}

bool is_status_that_passes(int status) {
  return status == 408 || status == 425 || status == 429 || status == 500 || (status >= 502 && status <= 504);
}

void set_secrets(CURL* handle, const Address& address, const RemoteOptions& options, bool is_first_site) {
  if (address.is_s3) {
    if (options.s3.access_key.empty()) return;
    set(handle, CURLOPT_AWS_SIGV4, concat("aws:amz:", options.s3.region, ":s3").c_str());
    set(handle, CURLOPT_USERNAME, options.s3.access_key.c_str());
    set(handle, CURLOPT_PASSWORD, options.s3.secret_key.c_str());
    return;
  }
  if (!is_first_site) return;
  if (!options.token.empty()) {
    set(handle, CURLOPT_HTTPAUTH, long{CURLAUTH_BEARER});
    set(handle, CURLOPT_XOAUTH2_BEARER, options.token.c_str());
    return;
  }
  set(handle, CURLOPT_NETRC, long{CURL_NETRC_OPTIONAL});
  if (!options.netrc.empty()) set(handle, CURLOPT_NETRC_FILE, options.netrc.string().c_str());
  if (address.name.empty()) return;
  set(handle, CURLOPT_HTTPAUTH, long{CURLAUTH_BASIC});
  set(handle, CURLOPT_USERNAME, address.name.c_str());
  set(handle, CURLOPT_PASSWORD, address.password.c_str());
}

void set_limits(CURL* handle, const RemoteOptions& options) {
  constexpr std::chrono::milliseconds longest{INT32_MAX};  // libcurl takes 0 for a limit of its own
  const auto limit = options.connect_timeout.count() == 0 ? longest : std::min(options.connect_timeout, longest);
  set(handle, CURLOPT_CONNECTTIMEOUT_MS, static_cast<long>(limit.count()));
  set(handle, CURLOPT_BUFFERSIZE, 256L << 10U);
}

void set_protocols(CURL* handle, const RemoteOptions& options) {
  set(handle, CURLOPT_PROTOCOLS_STR, "http,https");
  set(handle, CURLOPT_FOLLOWLOCATION, 0L);  // redirects are followed one by one: each is checked, and the last is kept
  set(handle, CURLOPT_HTTP_VERSION, long{CURL_HTTP_VERSION_2TLS});
  set(handle, CURLOPT_SSLVERSION, long{CURL_SSLVERSION_TLSv1_2});
  set(handle, CURLOPT_SSL_VERIFYPEER, 1L);
  set(handle, CURLOPT_SSL_VERIFYHOST, 2L);
  if (!options.certificates.empty()) set(handle, CURLOPT_CAINFO, options.certificates.string().c_str());
  set(handle, CURLOPT_NOSIGNAL, 1L);
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

void Request::prepare(CURL* handle, const Address& address, bool is_first_site, const RemoteOptions& options,
                      const Version& expected) try {
  curl_easy_reset(handle);
  address_ = address;
  expected_ = expected;
  answer_ = {};
  body_.clear();
  words_.front() = '\0';
  fault_ = nullptr;
  begun_ = stopped_ = progress_ = false;
  received_ = head_ = 0;
  if (wanted_ == Wanted::whole) ranges_ = {{0, expected.size.value_or(UINT64_MAX)}};  // each try is from the begin
  set_fields(handle, options);
  set(handle, CURLOPT_URL, address.url.c_str());
  set(handle, CURLOPT_PATH_AS_IS, 1L);  // `..` in a key of S3 is a part of its name
  set(handle, CURLOPT_PRIVATE, static_cast<void*>(this));
  set(handle, CURLOPT_ERRORBUFFER, words_.data());
  set(handle, CURLOPT_HEADERFUNCTION, &Request::take_line);
  set(handle, CURLOPT_HEADERDATA, static_cast<void*>(this));
  set(handle, CURLOPT_WRITEFUNCTION, &Request::take_body);
  set(handle, CURLOPT_WRITEDATA, static_cast<void*>(this));
  set_protocols(handle, options);
  set_limits(handle, options);
  set_secrets(handle, address, options, is_first_site);
} catch (const Error& error) {
  throw error.with_path(address.shown);
}

void Request::set_fields(CURL* handle, const RemoteOptions& options) {
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
    curl_slist* const list = curl_slist_append(fields_.get(), field.c_str());
    if (list == nullptr) throw std::bad_alloc();
    static_cast<void>(fields_.release());  // it is the front of `list`
    fields_.reset(list);
  }
  set(handle, CURLOPT_HTTPHEADER, fields_.get());
}

std::size_t Request::take_line(char* data, std::size_t size, std::size_t count, void* self) noexcept {
  auto* const request = static_cast<Request*>(self);
  try {
    request->take_head({data, size * count});
    return size * count;
  } catch (...) {
    request->fault_ = std::current_exception();
    return 0;
  }
}

std::size_t Request::take_body(char* data, std::size_t size, std::size_t count, void* self) noexcept {
  auto* const request = static_cast<Request*>(self);
  try {
    if (!std::exchange(request->begun_, true)) request->begin_body();
    if (!request->stopped_) request->take(std::as_bytes(std::span(data, size * count)));
  } catch (...) {
    request->fault_ = std::current_exception();
  }
  return request->fault_ || request->stopped_ ? 0 : size * count;  // 0 ends the transfer
}

void Request::take_head(std::string_view line) {
  constexpr std::uint64_t most = 256U << 10U;
  head_ += line.size();
  if (head_ > most)
    throw Error(Code::remote_answer, "the head of the server's answer does not end", {}, address_.shown);
  answer_.add_line(line);
}

/// Checks the head of an answer that brings bytes.
void Request::begin_body() {
  if (!answer_.has_bytes()) return;
  if (!answer_.encoding.empty()) {
    throw Error(Code::remote_answer,
                concat("the server sends the file in the encoding ", base::quoted(answer_.encoding),
                       " although it was asked not to"),
                {}, address_.shown);
  }
  if (answer_.status == 206) expect_range();
  expect_version();
  // A server may answer with the whole file if it is as short as what was asked for.
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
  throw Error(Code::remote_answer,
              concat("the server was asked for ", range_text(), " and answered with ",
                     base::quoted(answer_.range_text.value_or("no Content-Range"))),
              {}, address_.shown);
}

void Request::take(Bytes bytes) {
  received_ += bytes.size();
  if (!answer_.has_bytes()) {  // a page that says what is wrong
    if (received_ <= end_length) return;
    throw Error(Code::remote_answer,
                concat("the server answers with status ", answer_.status, " and more bytes than such an answer takes"),
                {}, address_.shown);
  }
  if (wanted_ == Wanted::range || wanted_ == Wanted::whole) {
    base::ByteRange& range = ranges_.front();
    if (bytes.size() > range.length) {
      throw Error(Code::remote_answer, "the server sends more bytes than it announced", {}, address_.shown);
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
    throw Error(Code::remote_answer, "the server sends more bytes than were asked for or announced", {},
                address_.shown);
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

/// Whether all bytes of the end have come.
bool Request::is_complete_end() const {
  if (answer_.status == 200) return body_.size() == answer_.length;
  return answer_.range() && body_.size() == answer_.range()->length();
}

std::string Request::failure() const {
  if (result_ == CURLE_OK) return "the bytes that it announced do not come";
  return words_.front() != '\0' ? std::string(words_.data()) : std::string(curl_easy_strerror(result_));
}

Request::Outcome Request::finish(CURLcode result) {
  result_ = result;
  // Only a range goes on where it broke off. Others begin again, and pages of errors bring nothing.
  progress_ = wanted_ == Wanted::range && answer_.has_bytes() && received_ >= enough_progress;
  if (fault_) std::rethrow_exception(fault_);
  const int status = answer_.status;
  if (stopped_) return wanted_ == Wanted::ranges ? Outcome::too_many : Outcome::no_ranges;
  if (result == CURLE_OPERATION_TIMEDOUT) return Outcome::stalled;
  if (result == CURLE_OUT_OF_MEMORY && !begun_) {  // what libcurl says of a long line
    throw Error(Code::remote_answer, "a line in the head of the server's answer is too long", {}, address_.shown);
  }
  if (result != CURLE_OK) {
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
  return wanted_ == Wanted::whole || ranges_.front().length == 0 ? Outcome::done : Outcome::again;
}

}  // namespace onnxar
