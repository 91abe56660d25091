/* A session of ONNX Runtime's C API that starts from a stored model. */
#pragma once

#include <stddef.h>
#ifdef __cplusplus
extern "C" {
#endif

/* Runs the model of an archive, from `x` to `y`, both with one row of `size` numbers. Returns 1 if the session was made
 * from the stored model, 0 if from the archive, -1 after an error, which it prints. */
int run_cached(const char* archive, const char* file, const float* x, float* y, size_t size);

#ifdef __cplusplus
}
#endif
