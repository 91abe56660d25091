// Reports the progress of long work to the caller.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <thread>

#include "base/kept.h"
#include "onnxar/bytes.h"

namespace onnxar::base {

/// Counts the bytes that are written or read. Not synchronised.
class Progress {
 public:
  /// `tell` may be empty. `total` is the number of bytes of the work.
  Progress(Kept<const ProgressCallback> tell, std::uint64_t total) : tell_(tell), total_(total) {}

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
  SharedProgress(Kept<const ProgressCallback> tell, std::uint64_t total) : progress_(tell, total) {}

  void add(std::uint64_t bytes);
  /// Calls Progress::finish. Must be called on the thread that created this object.
  void finish() { progress_.finish(); }

 private:
  Progress progress_;
  std::atomic<std::uint64_t> done_ = 0;
  std::uint64_t reported_ = 0;
  std::thread::id owner_ = std::this_thread::get_id();
};

/// Counts the bytes of a source while they are read.
class CountedSource final : public ByteSource {
 public:
  CountedSource(Kept<const ByteSource> source, Kept<Progress> progress) : source_(source), progress_(progress) {}
  [[nodiscard]] std::uint64_t size() const override { return source_.size(); }
  void read(const ByteSink& sink) const override {
    source_.read([&](Bytes bytes) { progress_.pass(bytes, sink); });
  }
  void locate(const std::function<void(const Location&)>& visit) const override { source_.locate(visit); }

 private:
  const ByteSource& source_;
  Progress& progress_;
};

}  // namespace onnxar::base
