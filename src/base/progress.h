// Reports the progress of long work to the caller.
#pragma once

#include <cstdint>

#include "onnxar/bytes.h"

namespace onnxar::base {

/// Counts the bytes that are written or read. Not synchronised.
class Progress {
 public:
  /// `tell` may be empty, and must outlive this. The work is on `total` bytes.
  Progress(const ProgressCallback& tell, std::uint64_t total) : tell_(tell), total_(total) {}

  /// Passes `bytes` to `sink` in pieces, and calls `tell` after each piece.
  void pass(Bytes bytes, const ByteSink& sink);

  /// Counts `bytes` bytes, and calls `tell` if that completes a step or all work.
  void add(std::uint64_t bytes);
  /// Calls `tell` for the end of the work, unless it was called for it.
  void finish();

 private:
  const ProgressCallback& tell_;
  std::uint64_t total_;
  std::uint64_t done_ = 0;
  std::uint64_t told_ = 0;
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

}  // namespace onnxar::base
