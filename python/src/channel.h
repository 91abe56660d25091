// Passes one weight's bytes from Python to a writer.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>

#include "onnxar/bytes.h"
#include "onnxar/error.h"

namespace onnxar::python {

/// Open while the weight is written. Python code may keep the file-like object for longer, and pass it to other
/// threads: after `close` or `abandon`, no byte passes. Both wait until a piece in progress is written, so the caller
/// must not hold the interpreter's lock. Thread-safe.
class Channel {
 public:
  /// `sink` is used until the channel is closed.
  Channel(std::reference_wrapper<const ByteSink> sink, std::uint64_t size) : sink_(&sink.get()), size_(size) {}

  /// Writes a piece. Throws usage.argument (the channel is closed, or a piece is in progress); io.source_size (more
  /// than `size` bytes); the errors of the sink. After an error, all later calls fail.
  void write(Bytes bytes);
  /// Closes the channel. Throws the first error of `write`, even if the Python code caught it; io.source_size (fewer
  /// than `size` bytes); usage.argument (a piece was in progress).
  void close();
  void abandon();

 private:
  const ByteSink& begin(std::uint64_t bytes);
  void end(const std::optional<Error>& failure);
  /// Closes the channel, and waits. Returns true if a piece was in progress.
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
