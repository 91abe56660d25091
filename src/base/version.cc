// Returns the version that the library was built as.
#include "onnxar/version.h"

namespace onnxar {

int version() noexcept { return ONNXAR_VERSION; }
const char* version_string() noexcept { return ONNXAR_VERSION_STRING; }

}  // namespace onnxar
