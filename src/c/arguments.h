// Checks the arguments of C functions, and converts them to types of C++.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "onnxar/bytes.h"
#include "onnxar/onnxar_c.h"

namespace onnxar::c {

/// Throws usage.argument. Not inline: one call for each check keeps the checks small.
[[noreturn]] void refuse_null(std::string_view name);

/// Errors: usage.argument with the name, unless the argument is given. Inline, so that static analysis sees that a
/// pointer is not null after the call.
inline void check_argument(bool given, std::string_view name) {
  if (!given) refuse_null(name);
}

/// Errors: usage.argument, if the caller was compiled against a different ABI. Structs of options may then mean
/// something else, so functions call this before they read any other argument.
void check_abi(std::uint32_t abi);

/// A name with its length, which may be ONNXAR_TERMINATED. Errors: usage.argument (NULL; `argument` is its name).
std::string_view text_of(const char* text, std::size_t length, std::string_view argument);

/// Bytes of the caller; NULL is allowed if `size` is 0. Errors: usage.argument (`argument` is their name).
Bytes bytes_of(const void* data, std::size_t size, std::string_view argument);

/// Absent for ONNXAR_TO_END.
std::optional<std::uint64_t> length_of(std::uint64_t length);

/// A number of threads. Where a std::size_t has 32 bits, larger numbers mean its largest.
std::size_t thread_count(std::uint64_t threads) noexcept;

inline onnxar_bytes c_bytes(Bytes bytes) { return {bytes.data(), bytes.size()}; }

}  // namespace onnxar::c
