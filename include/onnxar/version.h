// Version and platform. Every public header includes this one.
//
//   static_assert(ONNXAR_VERSION >= 900);  // these headers: 900 is 0.9.0, 10203 is 1.2.3
//   if (onnxar::version() != ONNXAR_VERSION) std::puts(onnxar::version_string());  // another shared library was loaded
#pragma once

#if defined(_MSVC_LANG)
#define ONNXAR_CPLUSPLUS_ _MSVC_LANG
#else
#define ONNXAR_CPLUSPLUS_ __cplusplus
#endif
#if ONNXAR_CPLUSPLUS_ <= 201703L
#error \
    "onnxar needs C++20: compile with -std=c++20 (MSVC: /std:c++20), or set CMAKE_CXX_STANDARD to 20. onnxar_c.h takes any standard."
#endif
#undef ONNXAR_CPLUSPLUS_

// Of these headers. The build reads it from here.
#define ONNXAR_VERSION_MAJOR 0
#define ONNXAR_VERSION_MINOR 9
#define ONNXAR_VERSION_PATCH 0

#define ONNXAR_VERSION (ONNXAR_VERSION_MAJOR * 10000 + ONNXAR_VERSION_MINOR * 100 + ONNXAR_VERSION_PATCH)

#define ONNXAR_TO_STRING_(number) #number
#define ONNXAR_JOIN_VERSION_(major, minor, patch) \
  ONNXAR_TO_STRING_(major) "." ONNXAR_TO_STRING_(minor) "." ONNXAR_TO_STRING_(patch)

/// "0.9.0"
#define ONNXAR_VERSION_STRING ONNXAR_JOIN_VERSION_(ONNXAR_VERSION_MAJOR, ONNXAR_VERSION_MINOR, ONNXAR_VERSION_PATCH)

// Marks each namespace of a public header. All code is compiled with hidden visibility, so a shared library exports
// what the public headers declare, and a plugin that links the static libraries exports nothing. The build defines
// ONNXAR_SHARED for shared libraries and for their users: both must see the type of an exception that crosses.
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

/// Of the library at run time.
[[nodiscard]] int version() noexcept;
[[nodiscard]] const char* version_string() noexcept;

}  // namespace ONNXAR_API onnxar
