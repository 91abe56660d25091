// Bytes from a list of numbers.
#pragma once

#include <vector>

#include "support/wire_builder.h"

namespace onnxar::testing {

inline Blob hex(const std::vector<unsigned>& values) {
  Blob out;
  for (const unsigned value : values) out.push_back(static_cast<std::byte>(value));
  return out;
}

}  // namespace onnxar::testing
