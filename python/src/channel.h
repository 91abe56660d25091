// The way of one weight's bytes from Python to a writer.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <optional>

#include "onnxar/bytes.h"
#include "onnxar/error.h"

namespace onnxar::python {

/// Open while the weight has its turn. Python may keep what leads here for longer, and give it to other threads: after
/// `close` or `abandon` no byte passes. Both wait until a piece that is under way is written, so neither may be called
/// with the interpreter's lock held.
class Channel {
 public:
  /// `sink` is used until the channel is closed.
  Channel(const ByteSink& sink, std::uint64_t size) : sink_(&sink), size_(size) {}

  /// Errors: usage.argument (the channel is closed, or another piece is under way); io.source_size (more than `size`
  /// bytes); those of the sink. After an error nothing passes any more.
  void write(Bytes bytes);
  /// Errors: the first one of `write`, whatever became of it there; io.source_size (fewer than `size` bytes);
  /// usage.argument (a piece was under way).
  void close();
  void abandon();

 private:
  const ByteSink& begin(std::uint64_t bytes);
  void end(const std::optional<Error>& failure);
  /// Whether a piece was under way.
  bool stop();
  [[noreturn]] void refuse(Code code, const std::string& message);
  [[noreturn]] void refuse_size(std::uint64_t written);

  std::mutex mutex_;
  std::condition_variable piece_is_written_;
  const ByteSink* sink_;
  std::uint64_t size_;
  std::uint64_t written_ = 0;
  bool writing_ = false;
  std::optional<Error> failure_;
};

}  // namespace onnxar::python
