// Converts arguments of C to types of C++, and exceptions to statuses and errors.
#include "c/boundary.h"

#include <array>
#include <cstdint>
#include <limits>
#include <new>
#include <optional>
#include <string>
#include <string_view>

#include "base/text.h"
#include "onnxar/error.h"
#include "os/names.h"

struct onnxar_error {  // NOLINT(readability-identifier-naming): a name of C
  onnxar_status status = ONNXAR_INTERNAL;
  std::string_view code;  // a literal, in the catalogue or in this file, so that a NUL follows it
  std::string_view hint;  // also a literal
  std::string hint_value;
  std::string message;
  std::string line;
  std::string entry;
  std::string path;
  std::optional<std::uint64_t> offset;
};

namespace onnxar::c {
namespace {

constexpr std::array words_of_hints = {
    std::string_view(),  // Hint::none
#define ONNXAR_HINT(identifier, id, cpp, c, command, python) std::string_view(c),
#include "onnxar/error_hints.inc"
#undef ONNXAR_HINT
};

/// Returns the description for callers when no memory is left for one. All failures share it; onnxar_error_free does
/// not free it.
onnxar_error& no_memory() noexcept {
  static onnxar_error error = [] {
    onnxar_error made;
    made.status = ONNXAR_MEMORY;
    made.code = "c.memory";
    made.hint = "";
    // Short enough for the buffer inside std::string: making this error allocates nothing.
    made.message = made.line = "no memory";
    return made;
  }();
  return error;
}

onnxar_status status_of(Kind kind) noexcept {
  switch (kind) {
    case Kind::usage: return ONNXAR_USAGE;
    case Kind::io: return ONNXAR_IO;
    case Kind::format: return ONNXAR_FORMAT;
    case Kind::remark: return ONNXAR_INTERNAL;  // remarks are never thrown
  }
  return ONNXAR_INTERNAL;
}

onnxar_error description_of(const Error& error) {
  const std::string words = words_of(error.advice());
  return {.status = status_of(kind(error.code())),
          .code = id(error.code()),
          .hint = id(error.advice().hint),
          .hint_value = error.advice().value,
          .message = with_advice(error.message(), words),
          .line = error.line(words),
          .entry = error.entry(),
          .path = os::text_of(error.path()),
          .offset = error.offset()};
}

onnxar_error description_of(onnxar_status status, std::string_view code, const char* what) {
  return {.status = status,
          .code = code,
          .hint = "",
          .hint_value = {},
          .message = what,
          .line = what,
          .entry = {},
          .path = {},
          .offset = {}};
}

/// Makes the description only if the caller wants it. Making it allocates, which may fail as well.
template <typename Make>
onnxar_status give(onnxar_error** error, onnxar_status status, const Make& make) noexcept {
  if (error == nullptr) return status;
  try {
    *error = new onnxar_error(make());
  } catch (...) {
    *error = &no_memory();
    return ONNXAR_MEMORY;
  }
  return status;
}

onnxar_status give(onnxar_error** error, onnxar_status status, std::string_view code, const char* what) noexcept {
  return give(error, status, [&] { return description_of(status, code, what); });
}

}  // namespace

std::string words_of(const Advice& advice) {
  return filled(words_of_hints.at(static_cast<std::size_t>(advice.hint)), advice);
}

std::string with_advice(const std::string& message, const std::string& words) {
  return words.empty() ? message : message + "; " + words;
}

onnxar_status status_of_current_exception(onnxar_error** error) noexcept {
  // Rethrowing inside a handler restores the exception's type, so all functions share one list of types.
  try {
    throw;
  } catch (const Error& thrown) {
    return give(error, status_of(kind(thrown.code())), [&] { return description_of(thrown); });
  } catch (const CallbackFailed& thrown) {
    return give(error, ONNXAR_USAGE, "c.callback", thrown.what());
  } catch (const std::bad_alloc&) {
    if (error != nullptr) *error = &no_memory();
    return ONNXAR_MEMORY;
  } catch (const std::exception& thrown) {
    return give(error, ONNXAR_INTERNAL, "c.internal", thrown.what());
  } catch (...) {
    return give(error, ONNXAR_INTERNAL, "c.internal", "an unknown exception");
  }
}

void refuse_null(std::string_view name) {
  throw Error(Code::usage_argument, base::concat("the argument `", name, "` is NULL"));
}

void check_abi(std::uint32_t abi) {
  if (abi == ONNXAR_C_ABI) return;
  throw Error(Code::usage_argument,
              base::concat("the caller was compiled against ABI ", abi, " of onnxar_c.h, and this library (",
                           ONNXAR_VERSION_STRING, ") has ABI ", ONNXAR_C_ABI,
                           "; recompile the caller, or install a library of its ABI"));
}

std::string_view text_of(const char* text, std::size_t length, std::string_view argument) {
  check_argument(text != nullptr, argument);
  return length == ONNXAR_TERMINATED ? std::string_view(text) : std::string_view(text, length);
}

Bytes bytes_of(const void* data, std::size_t size, std::string_view argument) {
  check_argument(data != nullptr || size == 0, argument);
  return {static_cast<const std::byte*>(data), size};
}

std::optional<std::uint64_t> length_of(std::uint64_t length) {
  return length == ONNXAR_TO_END ? std::nullopt : std::optional(length);
}

std::size_t thread_count(std::uint64_t threads) noexcept {
  return static_cast<std::size_t>(std::min<std::uint64_t>(threads, std::numeric_limits<std::size_t>::max()));
}

Prefetch prefetch_of(std::int32_t number) {
  switch (number) {
    case ONNXAR_PREFETCH_NONE: return Prefetch::none;
    case ONNXAR_PREFETCH_WILL_NEED: return Prefetch::will_need;
    case ONNXAR_PREFETCH_POPULATE: return Prefetch::populate;
    default:
      throw Error(Code::usage_argument,
                  base::concat("prefetch is ", number, ", which is not a value of ONNXAR_PREFETCH_*"));
  }
}

}  // namespace onnxar::c

ONNXAR_C_EXPORT const char* onnxar_version() { return onnxar::version_string(); }
ONNXAR_C_EXPORT uint32_t onnxar_version_number() { return static_cast<uint32_t>(onnxar::version()); }
ONNXAR_C_EXPORT uint32_t onnxar_c_abi() { return ONNXAR_C_ABI; }

ONNXAR_C_EXPORT onnxar_status onnxar_error_status(const onnxar_error* error) {
  return error == nullptr ? ONNXAR_OK : error->status;
}
ONNXAR_C_EXPORT const char* onnxar_error_code(const onnxar_error* error) {
  return error == nullptr ? "" : error->code.data();
}
ONNXAR_C_EXPORT const char* onnxar_error_message(const onnxar_error* error) {
  return error == nullptr ? "" : error->message.c_str();
}
ONNXAR_C_EXPORT const char* onnxar_error_line(const onnxar_error* error) {
  return error == nullptr ? "" : error->line.c_str();
}
ONNXAR_C_EXPORT const char* onnxar_error_hint(const onnxar_error* error) {
  return error == nullptr ? "" : error->hint.data();
}
ONNXAR_C_EXPORT const char* onnxar_error_hint_value(const onnxar_error* error) {
  return error == nullptr ? "" : error->hint_value.c_str();
}
ONNXAR_C_EXPORT const char* onnxar_error_entry(const onnxar_error* error) {
  return error == nullptr ? "" : error->entry.c_str();
}
ONNXAR_C_EXPORT const char* onnxar_error_path(const onnxar_error* error) {
  return error == nullptr ? "" : error->path.c_str();
}

ONNXAR_C_EXPORT int onnxar_error_offset(const onnxar_error* error, uint64_t* offset) {
  // The result states if there is an offset, because every value of `offset` is possible.
  if (error == nullptr || !error->offset) return 0;
  if (offset != nullptr) *offset = *error->offset;
  return 1;
}

ONNXAR_C_EXPORT void onnxar_error_free(onnxar_error* error) {
  // The shared description is static: callers cannot distinguish it from others, and free it like them.
  if (error != &onnxar::c::no_memory()) delete error;
}
