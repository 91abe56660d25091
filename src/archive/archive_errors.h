// Completes the errors of using an open archive.
#pragma once

#include "onnxar/archive.h"
#include "onnxar/error.h"

namespace onnxar {

/// Completes an error at the first use of an entry: adds the path, and tells whether the file changed since it was
/// opened.
Error with_archive(const Error& error, const Archive& archive);

}  // namespace onnxar
