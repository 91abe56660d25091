// Reads structs of options, which callers fill in and which may grow in later versions.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <string_view>

#include "base/text.h"
#include "onnxar/error.h"
#include "onnxar/version.h"

namespace onnxar::c {

/// Returns the part of the caller's struct that this library knows; all zeros for a null pointer. `Struct` begins with
/// `struct_size`, which identifies the version of the header that the caller was compiled against. `first_size` is the
/// size of the struct in the first version of this ABI.
/// - A shorter struct than the library's: the members that it lacks are 0.
/// - A longer struct: the members that the library lacks must be 0.
/// Throws usage.argument.
template <typename Struct>
Struct known_part(const Struct* given, std::size_t first_size) {
  Struct known{};
  if (given == nullptr) return known;
  const std::size_t size = given->struct_size;
  // If the caller never set the size, it may be any number, and reading that far would leave the caller's memory.
  constexpr std::size_t largest = 4096;
  const auto refuse = [size](std::string_view why) {
    throw Error(Code::usage_argument, base::concat("the struct_size of the options is ", size, why));
  };
  if (size < first_size) refuse(base::concat("; set it to their sizeof, which is at least ", first_size));
  if (size > largest) refuse(", more than in any version; set it to their sizeof");
  // A member that this library does not know may be a request that must not be ignored, such as one for a dry run.
  const auto* bytes = reinterpret_cast<const unsigned char*>(given);
  for (std::size_t i = sizeof known; i < size; ++i) {
    if (bytes[i] != 0) {
      throw Error(Code::usage_argument,
                  base::concat("the options are of a later version: their byte ", i, " is set, and this library (",
                               ONNXAR_VERSION_STRING, ") does not know what it means"));
    }
  }
  std::memcpy(&known, given, std::min(size, sizeof known));
  return known;
}

}  // namespace onnxar::c
