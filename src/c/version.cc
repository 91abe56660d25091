// The version of the library that a program runs with.
#include "onnxar/version.h"

#include "onnxar/onnxar_c.h"

const char* onnxar_version() { return ONNXAR_VERSION_STRING; }
uint32_t onnxar_version_number() {
  return ONNXAR_VERSION_MAJOR * 10000 + ONNXAR_VERSION_MINOR * 100 + ONNXAR_VERSION_PATCH;
}
uint32_t onnxar_c_abi() { return ONNXAR_C_ABI; }
