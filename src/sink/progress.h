// Reports the progress of saving to the caller.
#pragma once

#include <cstdint>

#include "onnxar/bytes.h"
#include "onnxar/options.h"

namespace onnxar {

/// Counts the bytes that are written. Not synchronised.
class Progress {
 public:
  /// `tell` may be empty, and must outlive this. All sources together have `total` bytes.
  Progress(const ProgressCallback& tell, std::uint64_t total) : tell_(tell), total_(total) {}

  /// Passes `bytes` to `sink` in pieces, and calls `tell` after each piece.
  void pass(Bytes bytes, const ByteSink& sink);

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

}  // namespace onnxar
