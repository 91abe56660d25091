#include "onnxar/version.h"

namespace onnxar {

int version() noexcept { return ONNXAR_VERSION; }
const char* version_string() noexcept { return ONNXAR_VERSION_STRING; }

}  // namespace onnxar
