// The threads of this process.
#pragma once

#include <cstddef>

namespace onnxar::testing {

std::size_t thread_count();

}  // namespace onnxar::testing
