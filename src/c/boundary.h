// The boundary of the C interface: converts arguments to types of C++, and exceptions to statuses. `guarded` is the
// frame of every function.
#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <optional>
#include <string>
#include <string_view>

#include "onnxar/archive.h"
#include "onnxar/bytes.h"
#include "onnxar/error.h"
#include "onnxar/onnxar_c.h"

struct onnxar_archive {  // NOLINT(readability-identifier-naming): a name of C
  onnxar::Archive archive;
};

// Marks the functions that the shared library exports. All code is compiled with hidden visibility.
#if defined(_WIN32)
#define ONNXAR_C_EXPORT __declspec(dllexport)
#else
#define ONNXAR_C_EXPORT __attribute__((visibility("default")))
#endif

namespace onnxar::c {

/// Throws usage.argument. Not inline: one call for each check keeps the checks small.
[[noreturn]] void refuse_null(std::string_view name);

/// Throws usage.argument with the name, unless the argument is given. Inline, so that static analysis sees that a
/// pointer is not null after the call.
inline void check_argument(bool given, std::string_view name) {
  if (!given) refuse_null(name);
}

/// Does the same for pairs of a name and a pointer.
template <typename Pointer, typename... More>
void check_given(std::string_view name, const Pointer& pointer, const More&... more) {
  check_argument(pointer != nullptr, name);
  if constexpr (sizeof...(more) != 0) check_given(more...);
}

/// Throws usage.argument, if the caller was compiled against a different ABI. Structs of options may then mean
/// something else, so functions call this before they read any other argument.
void check_abi(std::uint32_t abi);

/// Returns the text of `length` bytes, which may be ONNXAR_TERMINATED. Throws usage.argument (NULL; `argument` is its
/// name).
std::string_view text_of(const char* text, std::size_t length, std::string_view argument);

/// Returns the caller's bytes; NULL is allowed if `size` is 0. Throws usage.argument (`argument` is their name).
Bytes bytes_of(const void* data, std::size_t size, std::string_view argument);

/// Returns nothing for ONNXAR_TO_END.
std::optional<std::uint64_t> length_of(std::uint64_t length);

/// Returns the number of threads. Where std::size_t has 32 bits, clamps larger numbers to its maximum.
std::size_t thread_count(std::uint64_t threads) noexcept;

/// Throws usage.argument (not one of ONNXAR_PREFETCH_*).
Prefetch prefetch_of(std::int32_t number);

inline onnxar_bytes c_bytes(Bytes bytes) { return {bytes.data(), bytes.size()}; }

/// Returns the advice in words of C; empty for Hint::none.
std::string words_of(const Advice& advice);
/// `message; words`, or only `message` if there are no words.
std::string with_advice(const std::string& message, const std::string& words);

/// A callback of the caller asked to stop. Callers get ONNXAR_USAGE with code c.callback, which is not in the
/// catalogue: that describes files and calls of the library, and only the caller knows why its callback failed.
class CallbackFailed : public std::exception {
 public:
  /// `what` must be a literal.
  explicit CallbackFailed(const char* what) noexcept : what_(what) {}
  [[nodiscard]] const char* what() const noexcept override { return what_; }

 private:
  const char* what_;
};

/// Returns the status for the exception that is being handled; its description goes to `error`, unless that is null.
/// Call it in a handler. Never throws: without memory for the description, `error` says only that.
onnxar_status status_of_current_exception(onnxar_error** error) noexcept;

/// Runs `action` as the body of a C function. Unwinding through frames of C is undefined, so no exception may leave:
/// noexcept ends the process if one did. `error` is cleared first, so that callers may free it after any outcome.
template <typename Action>
onnxar_status guarded(onnxar_error** error, const Action& action) noexcept {
  try {
    if (error != nullptr) *error = nullptr;
    action();
    return ONNXAR_OK;
  } catch (...) {
    return status_of_current_exception(error);
  }
}

/// Does the same for functions that take the caller's ABI.
template <typename Action>
onnxar_status guarded(std::uint32_t abi, onnxar_error** error, const Action& action) noexcept {
  return guarded(error, [&] {
    check_abi(abi);
    action();
  });
}

}  // namespace onnxar::c
