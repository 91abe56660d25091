#include "c/arguments.h"

#include <algorithm>
#include <limits>

#include "base/text.h"
#include "onnxar/error.h"
#include "onnxar/version.h"

namespace onnxar::c {

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

}  // namespace onnxar::c
