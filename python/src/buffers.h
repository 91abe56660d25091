// Reads the memory of objects of Python in place.
#pragma once

#include <memory>

#include "binding.h"
#include "onnxar/bytes.h"

namespace onnxar::python {

/// The memory of a Python object with a buffer, and the owner that keeps it alive.
struct HeldBuffer {
  Bytes bytes;
  std::shared_ptr<const void> owner;
};
HeldBuffer hold_buffer(const nb::handle& object);
std::shared_ptr<const ByteSource> held_source(const nb::handle& object);

}  // namespace onnxar::python
