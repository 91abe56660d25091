// Holds a caller's source to the size that it announces.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "onnxar/bytes.h"
#include "onnxar/error.h"

namespace onnxar::base {

// Sums of sizes that sources announce.

/// The largest sum. It is twice the largest entry of an archive, which leaves room for messages, names and padding, and
/// keeps offsets below 2^63, which file systems require.
inline constexpr std::uint64_t largest_sum = 1ULL << 61U;

/// Returns `total + size`. A source of the caller may announce any size, and a sum that wrapped would pass every later
/// limit. REQUIRES: limit <= largest_sum. Errors: usage.argument, at `place`: the sum is over `limit`.
std::uint64_t add_announced(std::uint64_t total, std::uint64_t size, const Place& place = {},
                            std::uint64_t limit = largest_sum);

/// Gives exactly as many bytes as it announces, or throws. The caller's source may give more or fewer bytes, may
/// announce a different size at every call, and may swallow an exception of its sink and go on. Such an exception is
/// rethrown when the source returns, and no byte reaches the sink after it.
class ExactSource final : public ByteSource {
 public:
  /// Asks `source`, which must outlive this object, for its size once. Messages call it `what` and name `place`.
  explicit ExactSource(const ByteSource& source, std::string what = "the data", Place place = {});
  /// Keeps `source` alive. REQUIRES: it is not null.
  explicit ExactSource(std::shared_ptr<const ByteSource> source, std::string what = "the data", Place place = {});

  [[nodiscard]] std::uint64_t size() const override { return size_; }
  /// Errors: io.source_size (more or fewer bytes than announced); what the source or `sink` throws.
  void read(const ByteSink& sink) const override;
  void locate(const std::function<void(const Location&)>& visit) const override { source_->locate(visit); }

 private:
  [[noreturn]] void refuse(std::string_view how) const;

  std::shared_ptr<const ByteSource> source_;
  std::uint64_t size_;
  std::string what_;
  Place place_;
};

}  // namespace onnxar::base
