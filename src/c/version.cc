// The version of the library at run time.
#include "onnxar/version.h"

#include "onnxar/onnxar_c.h"

const char* onnxar_version() { return onnxar::version_string(); }
uint32_t onnxar_version_number() { return static_cast<uint32_t>(onnxar::version()); }
uint32_t onnxar_c_abi() { return ONNXAR_C_ABI; }
