// Structs that callers fill in and that grow from version to version.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>

#include "base/text.h"
#include "onnxar/error.h"
#include "onnxar/version.h"

namespace onnxar::c {

/// The caller's struct as far as this library knows it; all zeros for a null pointer. `Struct` begins with its
/// `struct_size`, which says which version of the header the caller was compiled against:
/// - from `first_size` (its size in the first version of this ABI) up, members that the caller does not have are 0;
/// - members that this library does not have must be 0.
/// Errors: usage.argument.
template <typename Struct>
Struct known_part(const Struct* given, std::size_t first_size) {
  Struct known{};
  if (given == nullptr) return known;
  const std::size_t size = given->struct_size;
  if (size < first_size) {
    throw Error(Code::usage_argument,
                base::concat("the struct_size of the options is ", size, "; it must be what sizeof gives, and that is ",
                             first_size, " at least"));
  }
  // A size that was never set may be any number: memory so far beyond the struct is not the caller's.
  constexpr std::size_t largest = 4096;
  if (size > largest) {
    throw Error(Code::usage_argument,
                base::concat("the struct_size of the options is ", size,
                             ", more than any version of them has; it must be what sizeof gives"));
  }
  const auto* bytes = reinterpret_cast<const unsigned char*>(given);
  for (std::size_t i = sizeof known; i < size; ++i) {
    if (bytes[i] != 0) {
      throw Error(Code::usage_argument, base::concat("an option at byte ", i, " is set that this library (",
                                                     ONNXAR_VERSION_STRING, ") does not have yet"));
    }
  }
  std::memcpy(&known, given, std::min(size, sizeof known));
  return known;
}

}  // namespace onnxar::c
