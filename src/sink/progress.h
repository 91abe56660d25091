// Telling the caller how far saving is.
#pragma once

#include <cstdint>

#include "onnxar/bytes.h"
#include "onnxar/options.h"

namespace onnxar {

/// Counts the bytes that pass. Not synchronised.
class Progress {
 public:
  /// `tell` may be empty, and must outlive this. All sources together have `total` bytes.
  Progress(const ProgressCallback& tell, std::uint64_t total) : tell_(tell), total_(total) {}

  /// Hands `bytes` on, in pieces after which the caller is told.
  void pass(Bytes bytes, const ByteSink& sink);

 private:
  const ProgressCallback& tell_;
  std::uint64_t total_;
  std::uint64_t done_ = 0;
  std::uint64_t told_ = 0;
};

/// A source whose bytes are counted while they are read. Both must outlive it.
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
