// Checks what callers' sources announce, reports the progress of reading them, and gathers their bytes.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "onnxar/bytes.h"
#include "onnxar/error.h"

namespace onnxar::base {

// Adds sizes that sources announce.

/// The largest sum: twice the largest entry of an archive. That leaves room for messages, names and padding, and keeps
/// offsets below 2^63, as file systems require.
inline constexpr std::uint64_t largest_sum = 1ULL << 61U;

/// Returns `total + size`. A caller's source may announce any size, and a wrapped sum would pass every later limit.
/// REQUIRES: limit <= largest_sum. Throws usage.argument, at `place`, if the sum exceeds `limit`.
std::uint64_t add_announced(std::uint64_t total, std::uint64_t size, const Place& place = {},
                            std::uint64_t limit = largest_sum);

/// Hands out exactly as many bytes as it announces, or throws. A caller's source may hand out more or fewer bytes, may
/// announce a different size at every call, and may swallow an exception of its sink and continue. Such an exception is
/// rethrown when the source returns, and no byte reaches the sink after it.
class ExactSource final : public ByteSource {
 public:
  /// Asks `source`, which must outlive this object, for its size once. Messages call it `what` and name `place`.
  explicit ExactSource(const ByteSource& source, std::string what = "the data", Place place = {});
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

// Reports the progress of long work to the caller.

/// Counts the bytes that are written or read. Not synchronised.
class Progress {
 public:
  /// `tell` may be empty, and must outlive this object. `total` is the number of bytes of the work.
  Progress(const ProgressCallback& tell, std::uint64_t total) : tell_(tell), total_(total) {}

  /// Passes `bytes` to `sink` in pieces, and calls `tell` after each piece.
  void pass(Bytes bytes, const ByteSink& sink);

  /// Counts `bytes` bytes, and calls `tell` if that completes a step or the work.
  void add(std::uint64_t bytes);
  /// Calls `tell` for the end of the work, unless that was done before.
  void finish();

 private:
  const ProgressCallback& tell_;
  std::uint64_t total_;
  std::uint64_t done_ = 0;
  std::uint64_t told_ = 0;
};

/// Counts bytes on any thread, and reports them on the thread that created this object.
class SharedProgress {
 public:
  SharedProgress(const ProgressCallback& tell, std::uint64_t total) : progress_(tell, total) {}

  void add(std::uint64_t bytes);
  /// Calls Progress::finish. Must be called on the thread that created this object.
  void finish() { progress_.finish(); }

 private:
  Progress progress_;
  std::atomic<std::uint64_t> done_ = 0;
  std::uint64_t reported_ = 0;
  std::thread::id owner_ = std::this_thread::get_id();
};

/// Counts the bytes of a source while they are read. Source and progress must outlive it.
class CountedSource final : public ByteSource {
 public:
  CountedSource(const ByteSource& source, Progress& progress) : source_(source), progress_(progress) {}
  [[nodiscard]] std::uint64_t size() const override { return source_.size(); }
  void read(const ByteSink& sink) const override {
    source_.read([&](Bytes bytes) { progress_.pass(bytes, sink); });
  }
  void locate(const std::function<void(const Location&)>& visit) const override { source_.locate(visit); }

 private:
  const ByteSource& source_;
  Progress& progress_;
};

/// Returns a view of the bytes of a source if they lie in memory in one piece; nothing if they do not, or if the source
/// is empty.
std::optional<Bytes> in_one_piece(const ByteSource& source);

/// Returns a copy of all bytes of a source. Throws std::bad_alloc, and what the source throws.
std::vector<std::byte> gathered(const ByteSource& source);

}  // namespace onnxar::base
