// The version of the library at run time.
#include "onnxar/version.h"

#include "c/export.h"
#include "onnxar/onnxar_c.h"

ONNXAR_C_EXPORT const char* onnxar_version() { return onnxar::version_string(); }
ONNXAR_C_EXPORT uint32_t onnxar_version_number() { return static_cast<uint32_t>(onnxar::version()); }
ONNXAR_C_EXPORT uint32_t onnxar_c_abi() { return ONNXAR_C_ABI; }
