// The container's part of `check`.
#pragma once

#include <vector>

#include "onnxar/archive.h"
#include "onnxar/error.h"

namespace onnxar {

struct SupersededTails {
  std::uint64_t count = 0;
  std::uint64_t bytes = 0;
};

/// What lies between entries: superseded models, directories and end records of edits. Proves local headers on the way.
SupersededTails superseded_tails(const Archive& archive);

/// Everything that an open archive shows beyond what `open` proved: every local header, the states before each edit,
/// and remarks. CRCs are not looked at.
std::vector<Finding> check_container(const Archive& archive);

}  // namespace onnxar
