// Passes one weight's bytes from Python to a writer, piece by piece.
#include "channel.h"

#include <string>

namespace onnxar::python {

void Channel::write(Bytes bytes) {
  const ByteSink& sink = begin(bytes.size());
  try {
    sink(bytes);
  } catch (const Error& error) {
    end(error);
    throw;
  } catch (...) {  // an exception of Python can be raised only once, so `close` reports a different error
    end(Error(Code::io_failed, "writing the weight failed, but write_to continued"));
    throw;
  }
  end(std::nullopt);
}

void Channel::close() {
  const bool still_writing = stop();
  if (failure_) throw Error(*failure_);
  if (still_writing) {
    throw Error(Code::usage_argument, "write_to returned while another thread was still writing the weight");
  }
  if (written_ != size_) refuse_size(written_);
}

void Channel::abandon() { static_cast<void>(stop()); }

const ByteSink& Channel::begin(std::uint64_t bytes) {
  const std::scoped_lock lock(mutex_);
  if (sink_ == nullptr) throw Error(Code::usage_argument, "the file of the weight is closed");
  if (failure_) throw Error(*failure_);
  if (writing_) {  // the order of the two pieces would be random
    refuse(Code::usage_argument, "two threads write pieces of a weight at the same time; write them one after another");
  }
  if (bytes > size_ - written_) refuse_size(written_ + bytes);
  written_ += bytes;
  writing_ = true;
  return *sink_;
}

void Channel::end(const std::optional<Error>& failure) {
  const std::scoped_lock lock(mutex_);
  writing_ = false;
  if (!failure_ && failure) failure_.emplace(*failure);
  piece_is_written_.notify_all();
}

bool Channel::stop() {
  std::unique_lock lock(mutex_);
  sink_ = nullptr;
  const bool still_writing = writing_;
  piece_is_written_.wait(lock, [this] { return !writing_; });
  return still_writing;
}

void Channel::refuse(Code code, const std::string& message) {
  failure_.emplace(code, message);
  throw Error(*failure_);
}

void Channel::refuse_size(std::uint64_t written) {
  refuse(Code::io_source_size, "a weight of " + std::to_string(size_) + " bytes was announced, and " +
                                   std::to_string(written) + " were written");
}

}  // namespace onnxar::python
