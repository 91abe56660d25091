// Ends a sequence of steps permanently at its first failure.
#include "base/steps.h"

#include <exception>

#include "base/text.h"
#include "onnxar/error.h"

namespace onnxar::base {
namespace {

constexpr const char* two_calls = "the writer was called while another call of it was running";

Error two_at_once() {
  return {Code::usage_writer_busy,
          concat(two_calls,
                 "; use one writer per thread, or guard the writer by a lock. Nothing is published; start "
                 "again with a new writer")};
}

/// Returns the message of the exception that is being handled. REQUIRES: called in a handler.
std::string current_failure() {
  try {
    throw;
  } catch (const std::exception& error) {
    return error.what();
  } catch (...) {
    return "an exception of an unknown type";
  }
}

}  // namespace

void Steps::begin() {
  const std::scoped_lock lock(state_->mutex);
  switch (state_->stage) {
    case Stage::idle: break;
    case Stage::closed:
      throw Error(Code::usage_writer_finished,
                  "the writer was called after it had published its file; use a new writer");
    case Stage::failed:
      throw Error(Code::usage_writer_failed, concat("the writer was called after it had failed (", state_->failure,
                                                    "); nothing is published; start again with a new writer"));
    case Stage::at_work:
      state_->stage = Stage::failed;
      state_->failure = two_calls;
      throw two_at_once();
  }
  state_->stage = Stage::at_work;
}

void Steps::end() {
  const std::scoped_lock lock(state_->mutex);
  if (state_->stage == Stage::failed) throw two_at_once();
  if (state_->stage == Stage::at_work) state_->stage = Stage::idle;
}

void Steps::close() {
  const std::scoped_lock lock(state_->mutex);
  if (state_->stage == Stage::failed) throw two_at_once();
  state_->stage = Stage::closed;
}

void Steps::fail() noexcept {
  const std::scoped_lock lock(state_->mutex);
  if (state_->stage == Stage::failed) return;  // the first failure is the one to report
  state_->stage = Stage::failed;
  try {
    state_->failure = current_failure();
  } catch (...) {  // no memory for the description; the failure is still recorded
    state_->failure.clear();
  }
}

}  // namespace onnxar::base
