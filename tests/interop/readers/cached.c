/* Makes a session of ONNX Runtime's C API from a stored model, or stores the model first. */
#include "interop/readers/cached.h"

#include <onnxruntime_c_api.h>
#include <onnxruntime_session_options_config_keys.h>
#include <stdio.h>
#include <string.h>

#include "onnxar/onnxar_c.h"

static const OrtApi* ort = NULL;

/* Whether the call succeeded. */
static int done(OrtStatus* status) {
  if (status == NULL) return 1;
  fprintf(stderr, "%s\n", ort->GetErrorMessage(status));
  ort->ReleaseStatus(status);
  return 0;
}

static int write_model(OrtSessionOptions* options, const char* output) {
  const char* const entries[][2] = {
      {kOrtSessionOptionsOptimizedModelExternalInitializersFileName, "data"},
      {kOrtSessionOptionsOptimizedModelExternalInitializersMinSizeInBytes, "1024"},
      {kOrtSessionOptionsSavePrePackedConstantInitializers, "1"},
  };
  size_t i;
  int good = done(ort->SetOptimizedModelFilePath(options, output)) && done(ort->SetSessionLogSeverityLevel(options, 3));
  for (i = 0; i < 3; ++i) good = good && done(ort->AddSessionConfigEntry(options, entries[i][0], entries[i][1]));
  return good;
}

static OrtSession* session_of(const OrtEnv* env, const onnxar_session_source* source) {
  OrtSessionOptions* options = NULL;
  OrtSession* session = NULL;
  int good = done(ort->CreateSessionOptions(&options)) &&
             done(ort->AddSessionConfigEntry(options, kOrtSessionOptionsModelExternalInitializersFileFolderPath,
                                             source->folder));
  if (source->is_stored) good = good && done(ort->SetSessionGraphOptimizationLevel(options, ORT_DISABLE_ALL));
  if (source->output[0] != '\0') good = good && write_model(options, source->output);
  good = good && done(ort->CreateSessionFromArray(env, source->model.data, source->model.size, options, &session));
  ort->ReleaseSessionOptions(options);
  return good ? session : NULL;
}

static int run(OrtSession* session, const float* x, float* y, size_t size) {
  const char* const inputs[] = {"x"};
  const char* const outputs[] = {"y"};
  const int64_t shape[] = {1, (int64_t)size};
  OrtMemoryInfo* memory = NULL;
  OrtValue *in = NULL, *out = NULL;
  const OrtValue* given;
  void* found = NULL;
  int good = done(ort->CreateCpuMemoryInfo(OrtDeviceAllocator, OrtMemTypeDefault, &memory)) &&
             done(ort->CreateTensorWithDataAsOrtValue(memory, (void*)x, size * sizeof(float), shape, 2,
                                                      ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT, &in));
  given = in;
  good = good && done(ort->Run(session, NULL, inputs, &given, 1, outputs, 1, &out)) &&
         done(ort->GetTensorMutableData(out, &found));
  if (good) memcpy(y, found, size * sizeof(float));
  ort->ReleaseValue(in);
  ort->ReleaseValue(out);
  ort->ReleaseMemoryInfo(memory);
  return good;
}

/* The session of `stored`; first of the archive, if ONNX Runtime has to write the model. */
static OrtSession* start(const OrtEnv* env, onnxar_stored* stored, onnxar_session_source* source) {
  OrtSession* session = session_of(env, source);
  const int is_new = session != NULL && source->output[0] != '\0';
  onnxar_error* error = NULL;
  int is_changed;
  if (session == NULL) return NULL;
  if (onnxar_keep_stored(stored, source, &error) != ONNXAR_OK) {
    is_changed = strcmp(onnxar_error_code(error), "io.changed") == 0;
    fprintf(stderr, "%s\n", onnxar_error_line(error)); /* otherwise this session writes, but works */
    onnxar_error_free(error);
    if (is_changed) ort->ReleaseSession(session);
    return is_changed ? NULL : session;
  }
  if (!is_new) return session;
  ort->ReleaseSession(session);
  return start(env, stored, source);
}

int run_cached(const char* archive, const char* file, const float* x, float* y, size_t size) {
  onnxar_stored* stored = NULL;
  onnxar_session_source source;
  onnxar_error* error = NULL;
  OrtEnv* env = NULL;
  OrtSession* session = NULL;
  char runtime[1000];
  int result = -1;
  ort = OrtGetApiBase()->GetApi(ORT_API_VERSION);
  snprintf(runtime, sizeof runtime, "%s %s", OrtGetApiBase()->GetVersionString(), ort->GetBuildInfoString());
  if (onnxar_open_stored(ONNXAR_C_ABI, file, archive, NULL, runtime, "", &stored, &source, &error) != ONNXAR_OK) {
    fprintf(stderr, "%s\n", onnxar_error_line(error));
    onnxar_error_free(error);
    return -1;
  }
  if (done(ort->CreateEnv(ORT_LOGGING_LEVEL_ERROR, "cached", &env))) session = start(env, stored, &source);
  if (session != NULL && run(session, x, y, size)) result = source.is_stored;
  ort->ReleaseSession(session);
  ort->ReleaseEnv(env);
  onnxar_stored_free(stored);
  return result;
}
