// Version and platform. Every public header includes this one.
//
//   static_assert(ONNXAR_VERSION >= 10000);  // these headers: 10000 is 1.0.0, 10203 is 1.2.3
//   if (onnxar::version() != ONNXAR_VERSION) std::puts(onnxar::version_string());  // another shared library was loaded
#pragma once

#if __cplusplus <= 201703L && (!defined(_MSVC_LANG) || _MSVC_LANG <= 201703L)
#error \
    "onnxar needs C++20: compile with -std=c++20 (MSVC: /std:c++20), or set CMAKE_CXX_STANDARD to 20. onnxar_c.h takes any standard."
#endif

// Of these headers. The build reads it from here.
#define ONNXAR_VERSION_MAJOR 1
#define ONNXAR_VERSION_MINOR 0
#define ONNXAR_VERSION_PATCH 0

#define ONNXAR_VERSION (ONNXAR_VERSION_MAJOR * 10000 + ONNXAR_VERSION_MINOR * 100 + ONNXAR_VERSION_PATCH)
/// "1.0.0"
#define ONNXAR_VERSION_STRING             \
  ONNXAR_TO_STRING_(ONNXAR_VERSION_MAJOR) \
  "." ONNXAR_TO_STRING_(ONNXAR_VERSION_MINOR) "." ONNXAR_TO_STRING_(ONNXAR_VERSION_PATCH)
#define ONNXAR_TO_STRING_(number) ONNXAR_TO_STRING_2_(number)
#define ONNXAR_TO_STRING_2_(number) #number

// All code is compiled with hidden visibility: a shared library exports what the public headers declare, and a plugin
// that links the static libraries exports nothing. The build defines ONNXAR_SHARED for shared libraries and their
// users, since both must see the type of an exception that passes between them.
#if defined(ONNXAR_SHARED) && !defined(_WIN32) && (defined(__GNUC__) || defined(__clang__))
#define ONNXAR_API [[gnu::visibility("default")]]
#else
#define ONNXAR_API
#endif

namespace ONNXAR_API onnxar {

/// The system's handle of an open file: a descriptor, on Windows a HANDLE. The library borrows it and never closes it.
#if defined(_WIN32)
using NativeHandle = void*;
#else
using NativeHandle = int;
#endif

/// Return the version of the library at run time.
[[nodiscard]] int version() noexcept;
[[nodiscard]] const char* version_string() noexcept;

}  // namespace ONNXAR_API onnxar
