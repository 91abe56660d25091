#include "base/steps.h"

#include <exception>

#include "base/text.h"
#include "onnxar/error.h"

namespace onnxar::base {
namespace {

Error two_at_once(std::string_view failure) {
  return {Code::usage_writer_busy,
          concat(failure,
                 "; a writer takes one call at a time: use one writer per thread, or guard the writer by a lock. "
                 "Nothing is published; start again with a new writer")};
}

/// The message of the exception that is being handled. REQUIRES: called in a handler.
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

void Steps::begin(std::string_view name) {
  const std::scoped_lock lock(state_->mutex);
  switch (state_->stage) {
    case Stage::idle: break;
    case Stage::closed:
      throw Error(Code::usage_writer_finished,
                  concat("`", name, "` was called after the writer had published its file; use a new writer"));
    case Stage::failed:
      throw Error(Code::usage_writer_failed,
                  concat("`", name, "` was called after the writer had failed (", state_->failure,
                         "); nothing is published; start again with a new writer"));
    case Stage::at_work:
      state_->stage = Stage::failed;
      state_->failure = concat("`", name, "` was called while `", state_->at_work, "` was at work");
      throw two_at_once(state_->failure);
  }
  state_->stage = Stage::at_work;
  state_->at_work = name;
}

void Steps::end() {
  const std::scoped_lock lock(state_->mutex);
  if (state_->stage == Stage::failed) throw two_at_once(state_->failure);
  if (state_->stage == Stage::at_work) state_->stage = Stage::idle;
}

void Steps::close() {
  const std::scoped_lock lock(state_->mutex);
  if (state_->stage == Stage::failed) throw two_at_once(state_->failure);
  state_->stage = Stage::closed;
}

void Steps::fail(std::string_view name) noexcept {
  const std::scoped_lock lock(state_->mutex);
  if (state_->stage == Stage::failed) return;  // the first failure is the one to report
  state_->stage = Stage::failed;
  try {
    state_->failure = concat("`", name, "`: ", current_failure());
  } catch (...) {  // no memory for the description; that it failed is recorded
    state_->failure.clear();
  }
}

}  // namespace onnxar::base
