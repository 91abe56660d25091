// The version of the library. The build reads its version from here; it stands nowhere else.
#pragma once

#define ONNXAR_VERSION_MAJOR 0
#define ONNXAR_VERSION_MINOR 1
#define ONNXAR_VERSION_PATCH 0

#define ONNXAR_TO_STRING_(number) #number
#define ONNXAR_JOIN_VERSION_(major, minor, patch) \
  ONNXAR_TO_STRING_(major) "." ONNXAR_TO_STRING_(minor) "." ONNXAR_TO_STRING_(patch)

/// "0.1.0"
#define ONNXAR_VERSION_STRING ONNXAR_JOIN_VERSION_(ONNXAR_VERSION_MAJOR, ONNXAR_VERSION_MINOR, ONNXAR_VERSION_PATCH)
