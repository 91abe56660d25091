// A file on a server, read in ranges over HTTP.
#pragma once

#include <deque>
#include <functional>
#include <random>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/byte_range.h"
#include "onnxar/remote.h"
#include "remote/request.h"

namespace onnxar {

/// States if opening refuses a server that can only send the whole file.
enum class WholeFiles : std::uint8_t { refused, allowed };

/// Runs requests on connections that stay open. Threads: one at a time.
class HttpFile final : public RandomAccess {
 public:
  /// Asks for the end of the file. Throws what `open_remote` throws.
  HttpFile(std::string_view address, const RemoteOptions& options, WholeFiles whole = WholeFiles::refused);

  [[nodiscard]] std::uint64_t size() const override { return version_.size.value_or(0); }
  [[nodiscard]] std::filesystem::path name() const override { return address_.shown; }
  void read(std::span<const RangeTarget> ranges) const override;

  /// Identifies the file and its version; empty if the server states no version. Contains the address, because two
  /// files may have the same time, but not its query, because each download may have its own signature.
  [[nodiscard]] std::string version_text() const;
  /// The bytes at the end of the file that opening read.
  [[nodiscard]] Bytes end() const noexcept { return end_; }
  /// The bytes that servers have sent so far, with the heads of their answers.
  [[nodiscard]] std::uint64_t received() const noexcept { return received_; }
  /// True if the server sends ranges. If not, only `fetch_whole` reads bytes.
  [[nodiscard]] bool has_ranges() const noexcept { return has_ranges_; }
  [[nodiscard]] const Version& version() const noexcept { return version_; }
  /// Hands over the bytes of the ranges, which are in the order of the file: in a few requests of many ranges if there
  /// are many, else each as one request. Some requests run at the same time. A server may add other bytes of the file.
  /// Throws what `read` and `receive` throw.
  void fetch(std::span<const base::ByteRange> ranges, const Receive& receive) const;
  /// Hands over the whole file in one request, from its start again after a failure.
  void fetch_whole(const Receive& receive) const;

 private:
  using Done = std::function<void(Request&)>;
  class Transfers;

  void open(WholeFiles whole);
  void run(std::deque<Request>& requests, const Done& done) const;
  void settle(Request& request, Request::Outcome outcome) const;
  void follow(Request& request) const;
  void renew_or_refuse(Request& request) const;
  void try_again(Request& request, bool stalled) const;
  [[noreturn]] void give_up(const Request& request, bool stalled) const;
  [[noreturn]] void refuse(int status) const;
  [[noreturn]] void refuse_whole_files() const;
  [[noreturn]] void fail(Code code, const std::string& what, Advice advice = {}) const;
  void fetch_each(std::span<const base::ByteRange> ranges, const Receive& receive) const;
  void fetch_several(std::span<const base::ByteRange> ranges, const Receive& receive) const;

  RemoteOptions options_;
  Address address_;
  Version version_;
  bool has_ranges_ = true;
  std::vector<std::byte> end_;  // the last bytes of the file
  mutable Address now_;         // where the last redirect led
  mutable std::uint64_t received_ = 0;
  mutable bool takes_several_ = true;  // whether the server sends several ranges in one answer, as far as is known
  mutable std::minstd_rand random_;    // of the pauses
  curl::Owned<curl::Multi> multi_;
};

}  // namespace onnxar
