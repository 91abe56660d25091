// Checks the functions and sources that callers pass, and gathers and compares the bytes of sources.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/kept.h"
#include "base/text.h"
#include "onnxar/bytes.h"
#include "onnxar/error.h"

namespace onnxar::base {

/// Throws usage.argument if the function is empty; calling it later would throw std::bad_function_call in the middle of
/// the work. `what` names it in the message: "the function that takes the bytes".
template <typename Signature>
void check_callable(const std::function<Signature>& function, std::string_view what) {
  if (!function) throw Error(Code::usage_argument, concat(what, " is empty; give a function that can be called"));
}

/// Checks the function that takes bytes.
inline void check_sink(const ByteSink& sink) { check_callable(sink, "the function that takes the bytes"); }
/// Checks the function that makes the name of a dimension printable.
inline void check_namer(const std::function<std::string(const std::string&)>& name) {
  check_callable(name, "the function for names of dimensions");
}
/// Checks the function that visits tensors.
template <typename Signature>
void check_visitor(const std::function<Signature>& visit) {
  check_callable(visit, "the function that is to visit the tensors");
}

/// The largest sum: twice the largest entry of an archive. That leaves room for messages, names and padding, and keeps
/// offsets below 2^63, as file systems require.
inline constexpr std::uint64_t largest_sum = 1ULL << 61U;

/// Returns `total + size`. A caller's source may announce any size, and a wrapped sum would pass every later limit.
/// REQUIRES: limit <= largest_sum. Throws usage.argument, at `place`, if the sum exceeds `limit`.
std::uint64_t add_announced(std::uint64_t total, std::uint64_t size, const Place& place = {},
                            std::uint64_t limit = largest_sum);

/// Returns the error io.source_size: `what` is longer or shorter (`how`) than the bytes that were announced.
Error source_size_error(std::string_view what, std::string_view how, std::uint64_t announced, const Place& place);

/// Hands out exactly as many bytes as it announces, or throws. A caller's source may hand out more or fewer bytes, may
/// announce a different size at every call, and may swallow an exception of its sink and continue. Such an exception is
/// rethrown when the source returns, and no byte reaches the sink after it.
class ExactSource final : public ByteSource {
 public:
  /// Asks `source` for its size once. Messages call it `what` and name `place`.
  explicit ExactSource(Kept<const ByteSource> source, std::string what = "the data", Place place = {});
  /// Keeps `source` alive. REQUIRES: it is not null.
  explicit ExactSource(std::shared_ptr<const ByteSource> source, std::string what = "the data", Place place = {});

  [[nodiscard]] std::uint64_t size() const override { return size_; }
  /// Throws io.source_size if the source hands out more or fewer bytes than announced, and what the source or `sink`
  /// throws.
  void read(const ByteSink& sink) const override;
  void locate(const std::function<void(const Location&)>& visit) const override { source_->locate(visit); }

 private:
  [[noreturn]] void refuse(std::string_view how) const;

  std::shared_ptr<const ByteSource> source_;
  std::uint64_t size_;
  std::string what_;
  Place place_;
};

/// Returns a view of the bytes of a source if they lie in memory in one piece; nothing if they do not, or if the source
/// is empty.
std::optional<Bytes> in_one_piece(const ByteSource& source);

/// Returns a copy of all bytes of a source. Throws std::bad_alloc, and what the source throws.
std::vector<std::byte> gathered(const ByteSource& source);

/// True if `source` hands out exactly these bytes. REQUIRES: source.size() == bytes.size(). Throws what the source
/// throws.
bool has_bytes(const ByteSource& source, Bytes bytes);

}  // namespace onnxar::base
