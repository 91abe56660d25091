// The version of the library. The build reads its version from here; it stands nowhere else.
#pragma once

#if defined(__cplusplus) && __cplusplus < 202002L && (!defined(_MSVC_LANG) || _MSVC_LANG < 202002L)
#error "onnxar takes C++20: compile with -std=c++20, or set CMAKE_CXX_STANDARD to 20. onnxar_c.h takes any standard."
#endif

#define ONNXAR_VERSION_MAJOR 0
#define ONNXAR_VERSION_MINOR 1
#define ONNXAR_VERSION_PATCH 0

#define ONNXAR_TO_STRING_(number) #number
#define ONNXAR_JOIN_VERSION_(major, minor, patch) \
  ONNXAR_TO_STRING_(major) "." ONNXAR_TO_STRING_(minor) "." ONNXAR_TO_STRING_(patch)

/// "0.1.0"
#define ONNXAR_VERSION_STRING ONNXAR_JOIN_VERSION_(ONNXAR_VERSION_MAJOR, ONNXAR_VERSION_MINOR, ONNXAR_VERSION_PATCH)

// What the shared libraries show.
//
// Each namespace of a public header is marked with ONNXAR_API. All code is compiled with hidden visibility, so a shared
// library shows what the public headers declare and nothing else, and a plugin that links the static libraries shows
// nothing of them. The build defines ONNXAR_SHARED where the libraries are shared, for their users too: an exception
// that crosses the border of a library needs a type that both sides see.
#if defined(ONNXAR_SHARED) && (defined(__GNUC__) || defined(__clang__))
#define ONNXAR_API [[gnu::visibility("default")]]
#else
#define ONNXAR_API
#endif
