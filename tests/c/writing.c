/* Tests of writers of archives and of the keys of entries. The working directory is the folder that program.c
 * describes. */
#define _POSIX_C_SOURCE 200809L

#include "checking.h"

#ifdef ONNXAR_HAVE_WRITING
#include "system.h"

#define ABI ONNXAR_C_ABI

typedef struct Stream {
  const char* next;
  size_t left;
  size_t piece; /* bytes at most in one call; 0: the stream fails */
} Stream;

static size_t read_stream(void* context, void* buffer, size_t size) {
  Stream* stream = context;
  size_t count = size < stream->left ? size : stream->left;
  if (stream->piece == 0) return ONNXAR_READ_FAILED;
  if (count > stream->piece) count = stream->piece;
  memcpy(buffer, stream->next, count);
  stream->next += count;
  stream->left -= count;
  return count;
}

static onnxar_writer* created(const char* path, const onnxar_writer_options* options) {
  onnxar_writer* writer = NULL;
  CHECK(onnxar_create(ABI, path, options, &writer, NULL) == ONNXAR_OK && writer != NULL);
  return writer;
}

/* From the bytes that a.onnxar was made of: "a" from memory, "b" as a stream. */
static void write_archive(onnxar_writer* writer) {
  const File a = read_file("a.bin"), b = read_file("b.bin"), model = read_file("model.bin");
  Stream stream = {b.data, b.size, 7};
  onnxar_error* error = NULL;
  CHECK(onnxar_reserve(writer, 1 << 16, &error) == ONNXAR_OK);
  CHECK(onnxar_add(writer, "a and more", 1, a.data, a.size, &error) == ONNXAR_OK);
  CHECK(onnxar_add_stream(writer, "b", ONNXAR_TERMINATED, b.size, read_stream, &stream, &error) == ONNXAR_OK);
  CHECK(stream.left == 0);
  CHECK(onnxar_finish(writer, model.data, model.size, &error) == ONNXAR_OK && error == NULL);
  free(a.data);
  free(b.data);
  free(model.data);
}

static void check_files_of_a_writer(void) {
  onnxar_writer_options options = {0};
  onnxar_writer* writer = NULL;

  writer = created("discarded.onnxar", NULL);
  CHECK(onnxar_add(writer, "a", 1, "1234", 4, NULL) == ONNXAR_OK);
  onnxar_writer_free(writer);
  CHECK(!is_there("discarded.onnxar"));

  writer = created("written.onnxar", NULL);
  write_archive(writer);
  REFUSED(ONNXAR_USAGE, "usage.writer_finished", onnxar_add(writer, "c", 1, "1234", 4, &error));
  onnxar_writer_free(writer);
  CHECK(same_files("written.onnxar", "a.onnxar"));

  writer = NULL;
  REFUSED(ONNXAR_USAGE, "output.exists", onnxar_create(ABI, "written.onnxar", NULL, &writer, &error));
  CHECK(writer == NULL);
  options.struct_size = sizeof options;
  options.overwrite = options.no_sync = 1;
  options.alignment = 4096;
  options.threads = 1;
  writer = created("written.onnxar", &options);
  write_archive(writer);
  onnxar_writer_free(writer);
  CHECK(passes("written.onnxar") && !same_files("written.onnxar", "a.onnxar"));
}

static void check_options_of_a_writer(void) {
  onnxar_writer_options options = {0};
  onnxar_writer* writer = NULL;
  REFUSED(ONNXAR_USAGE, "usage.argument", onnxar_create(ABI, "x.onnxar", &options, &writer, &error));
  options.struct_size = sizeof options;
  options.alignment = 100;
  REFUSED(ONNXAR_USAGE, "usage.argument", onnxar_create(ABI, "x.onnxar", &options, &writer, &error));
  options.alignment = 0;
  options.reserved = 1;
  REFUSED(ONNXAR_USAGE, "usage.argument", onnxar_create(ABI, "x.onnxar", &options, &writer, &error));
  REFUSED(ONNXAR_USAGE, "usage.argument", onnxar_create(ABI + 1, "x.onnxar", NULL, &writer, &error));
  NULL_REFUSED(onnxar_create(ABI, NULL, NULL, &writer, &error));
  NULL_REFUSED(onnxar_create(ABI, "x.onnxar", NULL, NULL, &error));
  CHECK(writer == NULL);

  options.reserved = 0;
  options.no_verify_model = 1;
  writer = created("x.onnxar", NULL);
  REFUSED(ONNXAR_FORMAT, "wire.truncated", onnxar_finish(writer, "\x0a\x05", 2, &error));
  onnxar_writer_free(writer);
  CHECK(!is_there("x.onnxar"));
  writer = created("x.onnxar", &options);
  CHECK(onnxar_finish(writer, "\x0a\x05", 2, NULL) == ONNXAR_OK);
  onnxar_writer_free(writer);
  CHECK(is_there("x.onnxar"));
}

static void check_failures_of_a_writer(void) {
  Stream stream = {"1234", 4, 0};
  onnxar_writer* writer = created("failed.onnxar", NULL);
  NULL_REFUSED(onnxar_add_stream(writer, "a", 1, 4, NULL, NULL, &error));
  NULL_REFUSED(onnxar_add_stream(writer, NULL, 1, 4, read_stream, &stream, &error));
  NULL_REFUSED(onnxar_add_stream(NULL, "a", 1, 4, read_stream, &stream, &error));
  NULL_REFUSED(onnxar_add(writer, NULL, 1, "1234", 4, &error));
  NULL_REFUSED(onnxar_add(writer, "a", 1, NULL, 4, &error));
  NULL_REFUSED(onnxar_add(NULL, "a", 1, "1234", 4, &error));
  NULL_REFUSED(onnxar_finish(writer, NULL, 4, &error));
  NULL_REFUSED(onnxar_finish(NULL, "", 0, &error));
  NULL_REFUSED(onnxar_reserve(NULL, 4, &error));
  CHECK(onnxar_add(writer, "empty", 5, NULL, 0, NULL) == ONNXAR_OK); /* the calls above did not reach the writer */
  REFUSED(ONNXAR_USAGE, "c.callback", onnxar_add_stream(writer, "a", 1, 4, read_stream, &stream, &error));
  REFUSED(ONNXAR_USAGE, "usage.writer_failed", onnxar_add(writer, "b", 1, "1234", 4, &error));
  REFUSED(ONNXAR_USAGE, "usage.writer_failed", onnxar_finish(writer, "", 0, &error));
  onnxar_writer_free(writer);
  CHECK(!is_there("failed.onnxar"));

  stream.piece = 3;
  writer = created("failed.onnxar", NULL);
  REFUSED(ONNXAR_IO, "io.source_size", onnxar_add_stream(writer, "a", 1, 5, read_stream, &stream, &error));
  onnxar_writer_free(writer);
  writer = created("failed.onnxar", NULL);
  REFUSED(ONNXAR_FORMAT, "zip.name.absolute", onnxar_add(writer, "/a", 2, "1234", 4, &error));
  onnxar_writer_free(writer);
  onnxar_writer_free(NULL);
}

static void check_keys(void) {
  onnxar_keys* keys = NULL;
  const char *first = NULL, *second = NULL;
  CHECK(onnxar_keys_create(ABI, &keys, NULL) == ONNXAR_OK);
  CHECK(onnxar_make_key(keys, "layer.0/w", ONNXAR_TERMINATED, &first, NULL) == ONNXAR_OK);
  CHECK(onnxar_make_key(keys, "layer_0_W and more", 9, &second, NULL) == ONNXAR_OK);
  CHECK(strcmp(first, "layer_0_w") == 0 && strcmp(second, "layer_0_W_2") == 0);
  NULL_REFUSED(onnxar_keys_create(ABI, NULL, &error));
  REFUSED(ONNXAR_USAGE, "usage.argument", onnxar_keys_create(ABI + 1, &keys, &error));
  NULL_REFUSED(onnxar_make_key(NULL, "w", 1, &first, &error));
  NULL_REFUSED(onnxar_make_key(keys, NULL, 1, &first, &error));
  NULL_REFUSED(onnxar_make_key(keys, "w", 1, NULL, &error));
  onnxar_keys_free(keys);
  onnxar_keys_free(NULL);
}

void check_writer(void) {
  check_files_of_a_writer();
  check_options_of_a_writer();
  check_failures_of_a_writer();
  check_keys();
}
#endif
