// What the shared libraries show.
//
// Each namespace of a public header is marked with ONNXAR_API. All code is compiled with hidden visibility, so a shared
// library shows what the public headers declare and nothing else, and a plugin that links the static libraries shows
// nothing of them. The build defines ONNXAR_SHARED where the libraries are shared, for their users too: an exception
// that crosses the border of a library needs a type that both sides see.
#pragma once

#if defined(ONNXAR_SHARED) && (defined(__GNUC__) || defined(__clang__))
#define ONNXAR_API [[gnu::visibility("default")]]
#else
#define ONNXAR_API
#endif
