/* Tests of models as ONNX Runtime stored them. The working directory is the folder that program.c describes. */
#define _POSIX_C_SOURCE 200809L

#include "checking.h"

#ifdef ONNXAR_HAVE_STORED
#include "system.h"

#define ABI ONNXAR_C_ABI

/* Writes what ONNX Runtime would: a ModelProto with an empty graph. */
static void write_model(const char* path) {
  FILE* file = fopen(path, "wb");
  CHECK(file != NULL && fwrite("\x08\x08\x3a", 1, 4, file) == 4 && fclose(file) == 0);
}

static onnxar_stored* open_stored(const char* settings, onnxar_session_source* source) {
  onnxar_stored* stored = NULL;
  onnxar_error* error = NULL;
  CHECK(onnxar_open_stored(ABI, "stored", "a.onnxar", NULL, "1.23", settings, &stored, source, &error) == ONNXAR_OK);
  CHECK(error == NULL && source->model.size != 0 && is_there(source->folder) && source->reserved == 0);
  return stored;
}

static void touch_archive(void) {
  FILE* file = fopen("a.onnxar", "r+b");
  CHECK(file != NULL && fwrite("PK", 1, 2, file) == 2 && fclose(file) == 0);
}

/* A session of an archive that was replaced is refused, whether or not its model can be stored. */
static void check_replaced_archive(void) {
  onnxar_session_source source = {0}, busy = {0};
  onnxar_stored* stored = open_stored("", &source);
  onnxar_stored* other = open_stored("", &busy);
  CHECK(busy.why[0] != '\0' && source.why[0] == '\0');
  touch_archive();
  REFUSED(ONNXAR_IO, "io.changed", onnxar_keep_stored(other, &busy, &error));
  REFUSED(ONNXAR_IO, "io.changed", onnxar_keep_stored(stored, &source, &error)); /* although nothing was written */
  onnxar_stored_free(other);
  onnxar_stored_free(stored);
}

static void check_storing(void) {
  onnxar_session_source source = {0}, busy = {0}, link;
  onnxar_stored* stored = open_stored("", &source);
  onnxar_stored* other = open_stored("", &busy);
  onnxar_error* error = NULL;
  CHECK(source.is_stored == 0 && source.why[0] == '\0' && source.output[0] != '\0');
  CHECK(busy.is_stored == 0 && busy.output[0] == '\0' && strstr(busy.why, "another process") != NULL);
  CHECK(onnxar_keep_stored(other, &busy, &error) == ONNXAR_OK && busy.is_stored == 0);
  onnxar_stored_free(other);
  REFUSED(ONNXAR_IO, "io.not_found", onnxar_keep_stored(stored, &source, &error));
  CHECK(onnxar_keep_stored(stored, &source, &error) == ONNXAR_OK); /* nothing is to be kept any more */
  CHECK(source.is_stored == 0 && source.output[0] == '\0' && source.model.size != 0);
  onnxar_stored_free(stored);
  check_replaced_archive();

  stored = open_stored("", &source);
  link = source;
  write_model(source.output);
  NULL_REFUSED(onnxar_keep_stored(NULL, &source, &error));
  NULL_REFUSED(onnxar_keep_stored(stored, NULL, &error));
  CHECK(onnxar_keep_stored(stored, &source, &error) == ONNXAR_OK && error == NULL);
  CHECK(source.is_stored == 1 && source.output[0] == '\0' && source.model.size == 4 && link.is_stored == 0);
  onnxar_stored_free(stored);
}

static void check_finding(void) {
  onnxar_session_source source = {0};
  onnxar_stored* stored = open_stored("", &source);
  CHECK(source.is_stored == 1 && source.model.size == 4 && source.output[0] == '\0');
  CHECK(onnxar_keep_stored(stored, &source, NULL) == ONNXAR_OK);
  CHECK(remove("stored") == 0);
  REFUSED(ONNXAR_IO, "io.changed", onnxar_keep_stored(stored, &source, &error));
  onnxar_stored_free(stored);
  onnxar_stored_free(NULL);
}

static void check_arguments(void) {
  onnxar_session_source source;
  onnxar_stored* stored = NULL;
  REFUSED(ONNXAR_USAGE, "usage.argument",
          onnxar_open_stored(ABI + 1, "s", "a.onnxar", NULL, "", "", &stored, &source, &error));
  NULL_REFUSED(onnxar_open_stored(ABI, NULL, "a.onnxar", NULL, "", "", &stored, &source, &error));
  NULL_REFUSED(onnxar_open_stored(ABI, "s", NULL, NULL, "", "", &stored, &source, &error));
  NULL_REFUSED(onnxar_open_stored(ABI, "s", "a.onnxar", NULL, NULL, "", &stored, &source, &error));
  NULL_REFUSED(onnxar_open_stored(ABI, "s", "a.onnxar", NULL, "", NULL, &stored, &source, &error));
  NULL_REFUSED(onnxar_open_stored(ABI, "s", "a.onnxar", NULL, "", "", NULL, &source, &error));
  NULL_REFUSED(onnxar_open_stored(ABI, "s", "a.onnxar", NULL, "", "", &stored, NULL, &error));
  REFUSED(ONNXAR_USAGE, "usage.no_such_entry",
          onnxar_open_stored(ABI, "s", "a.onnxar", "none", "", "", &stored, &source, &error));
  REFUSED(ONNXAR_IO, "io.not_found", onnxar_open_stored(ABI, "s", "none", NULL, "", "", &stored, &source, &error));
}

void check_stored(void) {
  check_storing();
  check_finding();
  check_arguments();
}
#else
typedef int no_sessions_to_check; /* C99 has no empty files */
#endif
