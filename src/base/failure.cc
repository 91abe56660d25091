#include <exception>
#include <memory>
#include <new>

#include "onnxar/error.h"

namespace onnxar {
namespace {

/// A copy that all copies of a Failure share; null if memory is exhausted.
std::shared_ptr<const Error> shared_copy(const Error& error) noexcept {
  try {
    return std::make_shared<const Error>(error);
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}

/// The text of an exception that is not an Error, held in an Error whose code is never shown (`Failure::code`).
std::shared_ptr<const Error> text_of(const char* what) noexcept {
  try {
    return std::make_shared<const Error>(Code::usage_argument, what);
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}

}  // namespace

Failure::Failure(Cause cause, std::shared_ptr<const Error> account) noexcept
    : cause_(account ? cause : Cause::no_memory), account_(std::move(account)) {}

Failure Failure::of_current_exception() noexcept {
  try {
    throw;
  } catch (const Error& error) {
    return {Cause::error, shared_copy(error)};
  } catch (const std::bad_alloc&) {
    return {Cause::no_memory, nullptr};
  } catch (const std::exception& exception) {
    return {Cause::other, text_of(exception.what())};
  } catch (...) {
    return {Cause::other, text_of("an exception of an unknown type")};
  }
}

std::optional<Code> Failure::code() const noexcept {
  if (cause_ != Cause::error) return std::nullopt;
  return account_->code();
}

std::string_view Failure::entry() const noexcept { return account_ ? account_->entry() : std::string_view(); }

std::optional<std::uint64_t> Failure::offset() const noexcept { return account_ ? account_->offset() : std::nullopt; }

std::string_view Failure::message() const noexcept {
  if (account_) return account_->message();
  return cause_ == Cause::no_memory ? "there is not enough memory" : "";
}

void detail::throw_usage_error(const char* message) { throw Error(Code::usage_argument, message); }

}  // namespace onnxar
