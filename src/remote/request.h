// One request for a part of a file, from its first try to its last byte.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <exception>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/byte_range.h"
#include "base/checked.h"
#include "base/kept.h"
#include "onnxar/bytes.h"
#include "onnxar/error.h"
#include "remote/address.h"
#include "remote/answer.h"
#include "remote/libcurl.h"

namespace onnxar {

/// Takes bytes of the file. Those of a range come in their order.
using Receive = std::function<void(std::uint64_t offset, Bytes bytes)>;

/// The bytes that a request asks for.
enum class Wanted : std::uint8_t {
  end,     ///< the last bytes of a file whose size is not known yet
  range,   ///< one range
  ranges,  ///< several ranges in one answer
  whole,   ///< the file, from a server that sends no ranges
};

/// The state of a request over all its tries. The version of the file that each try reports is compared with
/// `expected`. REQUIRES: the object is not moved while a handle of libcurl uses it.
class Request {
 public:
  Request(Wanted wanted, std::vector<base::ByteRange> ranges, base::Kept<const Receive> receive)
      : wanted_(wanted), ranges_(std::move(ranges)), receive_(&receive.get()) {}

  /// Makes the handle ready for a try at `address`. Name, password and token are sent only if this is the site of the
  /// address that the user gave.
  void prepare(curl::Easy* handle, const Address& address, bool is_first_site, const RemoteOptions& options,
               const Version& expected);

  /// The result of a try.
  enum class Outcome : std::uint8_t {
    done,
    again,       ///< failed for a reason that may pass
    stalled,     ///< was too slow
    redirected,  ///< to answer().location
    refused,     ///< by the answer's status
    too_many,    ///< the server does not send several ranges at once: `missing` are to be asked for one by one
    no_ranges,   ///< the server sends the whole file instead
  };
  /// Throws io.changed, remote.answer, remote.unreachable if another try would fail too, or what `receive` throws. A
  /// try that is broken off as too slow ends with curl::Result::operation_timedout.
  Outcome finish(curl::Result result);

  [[nodiscard]] Wanted wanted() const noexcept { return wanted_; }
  /// The address of the last try.
  [[nodiscard]] const Address& address() const noexcept { return address_; }
  [[nodiscard]] const Answer& answer() const noexcept { return answer_; }
  [[nodiscard]] const std::vector<base::ByteRange>& missing() const noexcept { return ranges_; }
  /// For Wanted::end: the bytes up to the end of the file.
  [[nodiscard]] std::vector<std::byte>& body() noexcept { return body_; }
  /// Returns the words of libcurl for the last failure.
  [[nodiscard]] std::string failure() const;
  /// Returns the bytes of the last try, with those of the answer's head.
  [[nodiscard]] std::uint64_t arrived() const noexcept { return received_ + head_; }
  /// True if the last try gave enough bytes that the next one counts as the first.
  [[nodiscard]] bool has_progress() const noexcept { return progress_; }

  std::size_t tries = 0;                               ///< that failed one after the other
  std::size_t stalls = 0;                              ///< of these, those that were too slow
  std::size_t redirects = 0;                           ///< that were followed
  bool renewed = false;                                ///< asked at the first address again, as a signature had expired
  std::chrono::steady_clock::time_point not_before{};  ///< of the next try

 private:
  static std::size_t take_line(char* data, std::size_t size, std::size_t count, void* self) noexcept;
  static std::size_t take_body(char* data, std::size_t size, std::size_t count, void* self) noexcept;
  template <typename Take>
  bool guarded(const Take& take) noexcept;
  [[nodiscard]] Error wrong(const std::string& what) const;
  void take_head(std::string_view line);
  void take(Bytes bytes);
  void begin_body();
  void expect_version() const;
  void expect_range();
  void deliver_parts();
  [[nodiscard]] std::string range_text() const;
  [[nodiscard]] bool is_complete_end() const;
  void set_fields(curl::Easy* handle, const RemoteOptions& options);

  Wanted wanted_;
  std::vector<base::ByteRange> ranges_;  // what is still missing
  const Receive* receive_;
  Address address_;
  Version expected_;
  curl::Owned<curl::List> fields_;
  Answer answer_;
  std::vector<std::byte> body_;
  std::array<char, curl::error_size> words_{};
  curl::Result result_ = curl::Result::ok;
  std::exception_ptr fault_;
  bool begun_ = false;    // the body of the answer
  bool stopped_ = false;  // by us, as the rest of the body is of no use
  bool progress_ = false;
  std::uint64_t received_ = 0;
  std::uint64_t head_ = 0;  // bytes of the answer's head, with those of interim answers
};

/// The number of bytes at the end of a file that are read first: those that arrive in a round trip of 20 ms at 100
/// Mbit/s.
inline constexpr std::uint64_t end_length = 256U << 10U;

}  // namespace onnxar
