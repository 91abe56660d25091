/* Helpers of the C programs of these tests: files, and checks of errors. */
#ifndef ONNXAR_TESTS_C_CHECKING_H_
#define ONNXAR_TESTS_C_CHECKING_H_

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "onnxar/onnxar_c.h"

extern int failures; /* of program.c */

#define CHECK(condition)                                                      \
  do {                                                                        \
    if (!(condition)) {                                                       \
      fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition); \
      ++failures;                                                             \
    }                                                                         \
  } while (0)

/* --- files ------------------------------------------------------------------------------------------------------- */

typedef struct File {
  char* data;
  size_t size;
} File;

static inline File read_file(const char* path) {
  File file = {NULL, 0};
  long size;
  FILE* stream = fopen(path, "rb");
  if (stream == NULL || fseek(stream, 0, SEEK_END) != 0 || (size = ftell(stream)) < 0) {
    perror(path);
    exit(2);
  }
  rewind(stream);
  file.size = (size_t)size;
  file.data = malloc(file.size + 1);
  if (file.data == NULL || fread(file.data, 1, file.size, stream) != file.size) {
    perror(path);
    exit(2);
  }
  fclose(stream);
  return file;
}

static inline int same(onnxar_bytes bytes, File file) {
  return bytes.size == file.size && memcmp(bytes.data, file.data, file.size) == 0;
}

/* --- checks of errors --------------------------------------------------------------------------------------------- */

/* Checks the error and frees it. */
static inline int is_error(onnxar_status got, onnxar_error* error, onnxar_status status, const char* code) {
  int good = got == status && error != NULL && onnxar_error_status(error) == status &&
             strcmp(onnxar_error_code(error), code) == 0 && onnxar_error_message(error)[0] != '\0' &&
             strstr(onnxar_error_line(error), onnxar_error_message(error)) != NULL;
  if (!good) {
    fprintf(stderr, "status %d, code %s, %s\n", (int)got, onnxar_error_code(error), onnxar_error_line(error));
  }
  onnxar_error_free(error);
  return good;
}

#define REFUSED(status, code, call)            \
  do {                                         \
    onnxar_error* error = NULL;                \
    const onnxar_status got = (call);          \
    CHECK(is_error(got, error, status, code)); \
  } while (0)

static inline onnxar_archive* opened(const char* path, const onnxar_open_options* options) {
  onnxar_archive* archive = NULL;
  onnxar_error* error = NULL;
  if (onnxar_open_path(ONNXAR_C_ABI, path, options, &archive, &error) != ONNXAR_OK) {
    fprintf(stderr, "%s\n", onnxar_error_line(error));
    exit(1);
  }
  CHECK(error == NULL);
  return archive;
}

#define NULL_REFUSED(call) REFUSED(ONNXAR_USAGE, "usage.argument", call)

#ifdef ONNXAR_HAVE_WRITING
static inline onnxar_options no_options(void) {
  onnxar_options options = {0};
  options.struct_size = sizeof options;
  return options;
}

static inline int same_files(const char* one, const char* other) {
  const File a = read_file(one), b = read_file(other);
  const int equal = a.size == b.size && memcmp(a.data, b.data, a.size) == 0;
  free(a.data);
  free(b.data);
  return equal;
}

static inline void write_file(const char* path, const char* data, size_t size) {
  FILE* stream = fopen(path, "wb");
  CHECK(stream != NULL && fwrite(data, 1, size, stream) == size && fclose(stream) == 0);
}

static inline void copy_file(const char* from, const char* to) {
  const File file = read_file(from);
  write_file(to, file.data, file.size);
  free(file.data);
}

static inline int passes(const char* path) {
  onnxar_options options = {0};
  onnxar_report* report = NULL;
  int passed;
  options.struct_size = sizeof options;
  options.data = 1;
  CHECK(onnxar_check(ONNXAR_C_ABI, path, &options, &report, NULL) == ONNXAR_OK);
  passed = onnxar_passed(report);
  onnxar_report_free(report);
  return passed;
}

/* Those of the tests of archive.c that came with the functions for writing. */
void check_reading_entries(void);
void check_lookup(void);
/* The tests of writing.c. */
void check_writer(void);
/* The tests of verbs.c. */
void check_verbs(void);
#endif

#ifdef ONNXAR_HAVE_TENSORS
/* The other tests of archive.c. */
void check_tensors(void);
#endif

#ifdef ONNXAR_HAVE_DIGEST
void check_digest(void);
#endif

#ifdef ONNXAR_HAVE_GRAPHS
/* The tests of graphs.c. */
void check_graphs(void);
#endif

#ifdef ONNXAR_HAVE_EDITING
/* The tests of editing.c. */
void check_editing(void);
#endif

#ifdef ONNXAR_HAVE_STORED
/* The tests of stored.c. */
void check_stored(void);
#endif

#endif /* ONNXAR_TESTS_C_CHECKING_H_ */
