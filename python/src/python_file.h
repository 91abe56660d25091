// A file whose ranges Python code reads.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "binding.h"
#include "onnxar/bytes.h"

namespace onnxar::python {

/// Calls `read` with a list of tuples (offset, memoryview), and expects it to fill each view with the bytes at that
/// offset. The views are released when `read` returns. Exceptions of `read` pass through.
std::shared_ptr<const RandomAccess> python_file(nb::callable read, std::uint64_t size, std::string name);

}  // namespace onnxar::python
