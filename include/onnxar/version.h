// What depends on the version and on the platform: the version of the library, the check for C++20, the macro that
// exports symbols, and the type of handles. Every public header includes
// this one, and needs nothing more from it. Threads: all functions here may be called from any thread.
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

/// The version of these headers. The build reads it from here.
#define ONNXAR_VERSION_MAJOR 0
#define ONNXAR_VERSION_MINOR 9
#define ONNXAR_VERSION_PATCH 0

/// The version as one number, for `#if ONNXAR_VERSION >= 900`: 900 is 0.9.0, and 10203 is 1.2.3.
#define ONNXAR_VERSION (ONNXAR_VERSION_MAJOR * 10000 + ONNXAR_VERSION_MINOR * 100 + ONNXAR_VERSION_PATCH)

#define ONNXAR_TO_STRING_(number) #number
#define ONNXAR_JOIN_VERSION_(major, minor, patch) \
  ONNXAR_TO_STRING_(major) "." ONNXAR_TO_STRING_(minor) "." ONNXAR_TO_STRING_(patch)

/// "0.9.0"
#define ONNXAR_VERSION_STRING ONNXAR_JOIN_VERSION_(ONNXAR_VERSION_MAJOR, ONNXAR_VERSION_MINOR, ONNXAR_VERSION_PATCH)

// Each namespace of a public header is marked with ONNXAR_API. All code is compiled with hidden visibility, so a shared
// library exports what the public headers declare and nothing else, and a plugin that links the static libraries
// exports none of it. The build defines ONNXAR_SHARED for shared libraries, and for their users too: an exception that
// crosses the border of a library needs a type that both sides can see.
#if defined(ONNXAR_SHARED) && !defined(_WIN32) && (defined(__GNUC__) || defined(__clang__))
#define ONNXAR_API [[gnu::visibility("default")]]
#else
#define ONNXAR_API
#endif

namespace ONNXAR_API onnxar {

/// The system's own handle of an open file. POSIX: a descriptor. Windows: a HANDLE, not a descriptor of the C library,
/// of which a process may have several. The library borrows handles and never closes them.
#if defined(_WIN32)
using NativeHandle = void*;
#else
using NativeHandle = int;
#endif

/// The version of the library that the program runs with, as ONNXAR_VERSION. It differs from the macro if the
/// program was compiled against headers of a different version than that of the shared library that it loads.
[[nodiscard]] int version() noexcept;
/// This version as text, such as "0.9.0".
[[nodiscard]] const char* version_string() noexcept;

}  // namespace ONNXAR_API onnxar
