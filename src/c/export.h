// Marks the functions that the shared library exports. All code is compiled with hidden visibility.
#pragma once

#if defined(_WIN32)
#define ONNXAR_C_EXPORT __declspec(dllexport)
#else
#define ONNXAR_C_EXPORT __attribute__((visibility("default")))
#endif
