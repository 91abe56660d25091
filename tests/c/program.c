/* A program in C99 that uses every function of onnxar_c.h, rightly and wrongly; archive.c has those for tensors and
 * digests, writing.c those that write, verbs.c the verbs, graphs.c those for several models, stored.c those for
 * sessions, editing.c those for edits. program_test.py makes the files that it reads and runs it:
 *
 *   program FOLDER
 *
 * with a.onnxar (entries "a" and "b" and the model) and their bytes in a.bin, b.bin, model.bin; host (a.onnxar at 128,
 * 100 bytes after it); broken.onnxar (the local header of "a" and the data of "b" are damaged); plain.zip; twice.onnxar
 * (two tensors "a"). The program writes further files to FOLDER. */
#define _POSIX_C_SOURCE 200809L

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "checking.h"
#include "onnxar/onnxar_c.h"
#include "system.h"

int failures = 0;

/* --- tests -------------------------------------------------------------------------------------------------------- */

static void check_contents(const onnxar_archive* archive) {
  const File a = read_file("a.bin"), b = read_file("b.bin"), model = read_file("model.bin");
  onnxar_entry entry, found;
  onnxar_location location;
  onnxar_bytes bytes;
  onnxar_error* error = NULL;

  CHECK(onnxar_count(archive) == 3);
  CHECK(onnxar_get_entry(archive, 1, &entry, &error) == ONNXAR_OK);
  CHECK(entry.index == 1 && entry.size == b.size && entry.name_length == 1 && entry.name[0] == 'b');
  CHECK(onnxar_find(archive, "b", ONNXAR_TERMINATED, &found, &error) == ONNXAR_OK);
  CHECK(found.index == 1 && found.crc32 == entry.crc32 && found.size == entry.size);
  CHECK(onnxar_find(archive, "b and more", 1, &found, &error) == ONNXAR_OK);
  CHECK(onnxar_locate(archive, 1, &location, &error) == ONNXAR_OK);
  CHECK(location.alignment == 64 && location.offset % 64 == 0);
  CHECK(onnxar_get_bytes(archive, 1, &bytes, &error) == ONNXAR_OK);
  CHECK(same(bytes, b));
  CHECK(onnxar_get_bytes(archive, 0, &bytes, NULL) == ONNXAR_OK);
  CHECK(same(bytes, a));
  CHECK(onnxar_model(archive, &bytes, &error) == ONNXAR_OK);
  CHECK(same(bytes, model));
  CHECK(onnxar_resolve(archive, "b", 1, 0, ONNXAR_TO_END, &bytes, &error) == ONNXAR_OK);
  CHECK(same(bytes, b));
  CHECK(onnxar_resolve(archive, "b", ONNXAR_TERMINATED, 8, 16, &bytes, &error) == ONNXAR_OK);
  CHECK(bytes.size == 16 && memcmp(bytes.data, b.data + 8, 16) == 0);
  CHECK(onnxar_prefetch(archive, 0, ONNXAR_PREFETCH_POPULATE, &error) == ONNXAR_OK);
  CHECK(onnxar_prefetch(archive, 0, ONNXAR_PREFETCH_WILL_NEED, &error) == ONNXAR_OK);
  CHECK(onnxar_verify(archive, 2, &error) == ONNXAR_OK);
  CHECK(error == NULL);
  free(a.data);
  free(b.data);
  free(model.data);
}

static void check_version(void) {
  onnxar_archive* archive = NULL;
  CHECK(onnxar_c_abi() == ONNXAR_C_ABI);
  CHECK(strchr(onnxar_version(), '.') != NULL);
#ifdef ONNXAR_HAVE_WRITING
  CHECK(onnxar_version_number() / 10000 == (uint32_t)atoi(onnxar_version()));
#endif
  REFUSED(ONNXAR_USAGE, "usage.argument", onnxar_open_path(ONNXAR_C_ABI + 1, "a.onnxar", NULL, &archive, &error));
  REFUSED(ONNXAR_USAGE, "usage.argument", onnxar_open_path(0, "a.onnxar", NULL, &archive, &error));
  REFUSED(ONNXAR_USAGE, "usage.argument", onnxar_open_descriptor(0, 0, 0, 0, NULL, &archive, &error));
  REFUSED(ONNXAR_USAGE, "usage.argument", onnxar_open_memory(0, "", 0, NULL, NULL, NULL, &archive, &error));
  CHECK(archive == NULL);
}

static void check_options(void) {
  /* The options of a caller of a later version. */
  struct {
    onnxar_open_options known;
    uint64_t later;
  } longer = {{0}, 0};
  onnxar_open_options options = {0};
  onnxar_archive* archive = NULL;

  REFUSED(ONNXAR_USAGE, "usage.argument", onnxar_open_path(ONNXAR_C_ABI, "a.onnxar", &options, &archive, &error));
  options.struct_size = sizeof options;
  onnxar_close(opened("a.onnxar", &options));
  options.prefetch = ONNXAR_PREFETCH_POPULATE;
  options.num_threads = 2;
  options.copy_in = 1;
  archive = opened("a.onnxar", &options);
  check_contents(archive);
  onnxar_close(archive);
  archive = NULL;
  options.prefetch = 3;
  REFUSED(ONNXAR_USAGE, "usage.argument", onnxar_open_path(ONNXAR_C_ABI, "a.onnxar", &options, &archive, &error));
  options.prefetch = ONNXAR_PREFETCH_NONE;
  options.max_entries = 2;
  REFUSED(ONNXAR_FORMAT, "zip.limit.entries", onnxar_open_path(ONNXAR_C_ABI, "a.onnxar", &options, &archive, &error));
  options.max_entries = 0;
  options.max_directory_size = 10;
  REFUSED(ONNXAR_FORMAT, "zip.limit.directory", onnxar_open_path(ONNXAR_C_ABI, "a.onnxar", &options, &archive, &error));
  options.max_directory_size = 0;
  options.max_model_size = 10;
  REFUSED(ONNXAR_FORMAT, "archive.model.too_large",
          onnxar_open_path(ONNXAR_C_ABI, "a.onnxar", &options, &archive, &error));

  longer.known.struct_size = sizeof longer;
  onnxar_close(opened("a.onnxar", &longer.known));
  longer.later = 1;
  REFUSED(ONNXAR_USAGE, "usage.argument", onnxar_open_path(ONNXAR_C_ABI, "a.onnxar", &longer.known, &archive, &error));
  CHECK(archive == NULL);
}

static void check_descriptor(void) {
  onnxar_archive* archive = NULL;
  const File whole = read_file("a.onnxar");
  const NativeFile file = open_native("host");
  const NativeFile none = (NativeFile)(intptr_t)-1;

  CHECK(onnxar_open_descriptor(ONNXAR_C_ABI, file, 128, whole.size, NULL, &archive, NULL) == ONNXAR_OK);
  REFUSED(ONNXAR_USAGE, "usage.argument",
          onnxar_open_descriptor(ONNXAR_C_ABI, file, 100, whole.size, NULL, &archive, &error));
  REFUSED(ONNXAR_FORMAT, "zip.end.not_last",
          onnxar_open_descriptor(ONNXAR_C_ABI, file, 128, ONNXAR_TO_END, NULL, &archive, &error));
  REFUSED(ONNXAR_IO, "io.failed", onnxar_open_descriptor(ONNXAR_C_ABI, none, 0, 1, NULL, &archive, &error));
  CHECK(close_native(file)); /* the caller owned it all the time */
  check_contents(archive);
  onnxar_close(archive);
  free(whole.data);
}

static int released = 0;

static void release(void* context) {
  ++released;
  free(context);
}

static void check_memory_and_owner(void) {
  const File whole = read_file("a.onnxar"), b = read_file("b.bin");
  onnxar_archive* archive = NULL;
  onnxar_owner* owner = NULL;
  onnxar_bytes bytes;

  REFUSED(ONNXAR_FORMAT, "zip.end.missing",
          onnxar_open_memory(ONNXAR_C_ABI, whole.data, 10, release, whole.data, NULL, &archive, &error));
  CHECK(released == 0); /* it failed, so the bytes stay the caller's */
  CHECK(onnxar_open_memory(ONNXAR_C_ABI, whole.data, whole.size, release, whole.data, NULL, &archive, NULL) ==
        ONNXAR_OK);
  check_contents(archive);
  CHECK(onnxar_get_owner(archive, &owner, NULL) == ONNXAR_OK);
  CHECK(onnxar_get_bytes(archive, 1, &bytes, NULL) == ONNXAR_OK);
  onnxar_owner_retain(owner);
  onnxar_close(archive);
  onnxar_owner_release(owner);
  CHECK(released == 0);
  CHECK(same(bytes, b));
  onnxar_owner_release(owner);
  CHECK(released == 1);
  onnxar_owner_retain(NULL);
  onnxar_owner_release(NULL);
  free(b.data);

  {
    const File kept = read_file("a.onnxar");
    CHECK(onnxar_open_memory(ONNXAR_C_ABI, kept.data, kept.size, NULL, NULL, NULL, &archive, NULL) == ONNXAR_OK);
    check_contents(archive);
    onnxar_close(archive);
    free(kept.data);
  }
}

static void check_owner_of_file(void) {
  const File b = read_file("b.bin");
  onnxar_archive* archive = opened("a.onnxar", NULL);
  onnxar_owner *first = NULL, *second = NULL;
  onnxar_bytes bytes;

  CHECK(onnxar_get_bytes(archive, 1, &bytes, NULL) == ONNXAR_OK);
  CHECK(onnxar_get_owner(archive, &first, NULL) == ONNXAR_OK);
  CHECK(onnxar_get_owner(archive, &second, NULL) == ONNXAR_OK);
  onnxar_close(archive);
  onnxar_owner_release(first);
  CHECK(same(bytes, b));
  onnxar_owner_release(second);
  onnxar_close(NULL);
  free(b.data);
}

static void check_errors(void) {
  onnxar_archive* archive = NULL;
  onnxar_error* error = NULL;
  onnxar_bytes bytes;
  onnxar_entry entry;
  onnxar_location location;
  uint64_t offset = 77;

  REFUSED(ONNXAR_IO, "io.not_found", onnxar_open_path(ONNXAR_C_ABI, "none", NULL, &archive, &error));
  REFUSED(ONNXAR_IO, "io.not_a_file", onnxar_open_path(ONNXAR_C_ABI, ".", NULL, &archive, &error));
  CHECK(onnxar_open_path(ONNXAR_C_ABI, "plain.zip", NULL, &archive, &error) == ONNXAR_FORMAT);
  CHECK(strcmp(onnxar_error_path(error), "plain.zip") == 0);
  CHECK(strstr(onnxar_error_message(error), "repack") != NULL);
  onnxar_error_free(error);
  CHECK(onnxar_open_path(ONNXAR_C_ABI, "none", NULL, &archive, NULL) == ONNXAR_IO);
  CHECK(archive == NULL);

  archive = opened("broken.onnxar", NULL);
  CHECK(onnxar_get_bytes(archive, 0, &bytes, &error) == ONNXAR_FORMAT);
  CHECK(strcmp(onnxar_error_code(error), "zip.local.field") == 0);
  CHECK(strcmp(onnxar_error_entry(error), "a") == 0);
  CHECK(strcmp(onnxar_error_path(error), "broken.onnxar") == 0);
  CHECK(onnxar_error_offset(error, &offset) == 1 && offset == 0);
  CHECK(onnxar_error_offset(error, NULL) == 1);
  onnxar_error_free(error);
  REFUSED(ONNXAR_FORMAT, "zip.local.field", onnxar_locate(archive, 0, &location, &error));
  REFUSED(ONNXAR_FORMAT, "zip.local.field", onnxar_prefetch(archive, 0, ONNXAR_PREFETCH_NONE, &error));
  REFUSED(ONNXAR_FORMAT, "zip.data.crc", onnxar_verify(archive, 1, &error));
  REFUSED(ONNXAR_USAGE, "usage.argument", onnxar_prefetch(archive, 1, 7, &error));
  REFUSED(ONNXAR_USAGE, "usage.no_such_entry", onnxar_get_entry(archive, 3, &entry, &error));
  REFUSED(ONNXAR_USAGE, "usage.no_such_entry", onnxar_get_bytes(archive, UINT64_MAX, &bytes, &error));
  REFUSED(ONNXAR_USAGE, "usage.no_such_entry", onnxar_find(archive, "none", 4, &entry, &error));
  REFUSED(ONNXAR_FORMAT, "onnx.external_data.missing",
          onnxar_resolve(archive, "none", ONNXAR_TERMINATED, 0, ONNXAR_TO_END, &bytes, &error));
  REFUSED(ONNXAR_FORMAT, "onnx.external_data.out_of_range",
          onnxar_resolve(archive, "b", 1, 1, UINT64_MAX - 1, &bytes, &error));
  onnxar_close(archive);

  CHECK(onnxar_error_status(NULL) == ONNXAR_OK && onnxar_error_code(NULL)[0] == '\0');
  CHECK(onnxar_error_message(NULL)[0] == '\0' && onnxar_error_line(NULL)[0] == '\0');
  CHECK(onnxar_error_entry(NULL)[0] == '\0' && onnxar_error_path(NULL)[0] == '\0');
  CHECK(onnxar_error_offset(NULL, &offset) == 0);
  onnxar_error_free(NULL);
}

static void check_null_arguments(void) {
  onnxar_archive* archive = opened("a.onnxar", NULL);
  onnxar_archive* other = NULL;
  onnxar_bytes bytes;
  onnxar_entry entry;
  onnxar_location location;
  onnxar_owner* owner = NULL;

  NULL_REFUSED(onnxar_open_path(ONNXAR_C_ABI, NULL, NULL, &other, &error));
  NULL_REFUSED(onnxar_open_path(ONNXAR_C_ABI, "a.onnxar", NULL, NULL, &error));
  NULL_REFUSED(onnxar_open_descriptor(ONNXAR_C_ABI, 0, 0, 0, NULL, NULL, &error));
  NULL_REFUSED(onnxar_open_memory(ONNXAR_C_ABI, NULL, 0, NULL, NULL, NULL, &other, &error));
  NULL_REFUSED(onnxar_open_memory(ONNXAR_C_ABI, "", 0, NULL, NULL, NULL, NULL, &error));
  NULL_REFUSED(onnxar_get_entry(NULL, 0, &entry, &error));
  NULL_REFUSED(onnxar_get_entry(archive, 0, NULL, &error));
  NULL_REFUSED(onnxar_find(NULL, "a", 1, &entry, &error));
  NULL_REFUSED(onnxar_find(archive, NULL, 1, &entry, &error));
  NULL_REFUSED(onnxar_find(archive, "a", 1, NULL, &error));
  NULL_REFUSED(onnxar_locate(NULL, 0, &location, &error));
  NULL_REFUSED(onnxar_locate(archive, 0, NULL, &error));
  NULL_REFUSED(onnxar_get_bytes(NULL, 0, &bytes, &error));
  NULL_REFUSED(onnxar_get_bytes(archive, 0, NULL, &error));
  NULL_REFUSED(onnxar_model(NULL, &bytes, &error));
  NULL_REFUSED(onnxar_model(archive, NULL, &error));
  NULL_REFUSED(onnxar_resolve(NULL, "a", 1, 0, 0, &bytes, &error));
  NULL_REFUSED(onnxar_resolve(archive, NULL, 1, 0, 0, &bytes, &error));
  NULL_REFUSED(onnxar_resolve(archive, "a", 1, 0, 0, NULL, &error));
  NULL_REFUSED(onnxar_prefetch(NULL, 0, 0, &error));
  NULL_REFUSED(onnxar_verify(NULL, 0, &error));
  NULL_REFUSED(onnxar_get_owner(NULL, &owner, &error));
  NULL_REFUSED(onnxar_get_owner(archive, NULL, &error));
  CHECK(onnxar_count(NULL) == 0);
  CHECK(other == NULL && owner == NULL);
  onnxar_close(archive);
}

enum { threads = 4, rounds = 200 };

static onnxar_archive* shared_archive = NULL;
static onnxar_owner* shared_owner = NULL;

static void* use_shared(void* wrong_calls) {
  int i;
  for (i = 0; i < rounds; ++i) {
    onnxar_bytes bytes;
    onnxar_entry entry;
    onnxar_error* error = NULL;
    int good = onnxar_resolve(shared_archive, i % 2 ? "a" : "b", 1, 4, 8, &bytes, NULL) == ONNXAR_OK &&
               onnxar_find(shared_archive, "b", 1, &entry, NULL) == ONNXAR_OK && entry.index == 1 &&
               onnxar_verify(shared_archive, (uint64_t)i % 3, NULL) == ONNXAR_OK &&
               onnxar_find(shared_archive, "none", 4, &entry, &error) == ONNXAR_USAGE && error != NULL;
    onnxar_error_free(error);
    onnxar_owner_retain(shared_owner);
    onnxar_owner_release(shared_owner);
    if (!good) ++*(int*)wrong_calls;
  }
  return NULL;
}

static void check_threads(void) {
  Thread running[threads];
  int wrong[threads] = {0};
  int i;
  shared_archive = opened("a.onnxar", NULL);
  CHECK(onnxar_get_owner(shared_archive, &shared_owner, NULL) == ONNXAR_OK);
  for (i = 0; i < threads; ++i) CHECK(start_thread(&running[i], use_shared, &wrong[i]));
  for (i = 0; i < threads; ++i) {
    CHECK(join_thread(&running[i]));
    CHECK(wrong[i] == 0);
  }
  onnxar_owner_release(shared_owner);
  onnxar_close(shared_archive);
}

int main(int argc, char** argv) {
  onnxar_archive* archive;
  if (argc != 2 || !enter_folder(argv[1])) {
    fprintf(stderr, "usage: program FOLDER\n");
    return 2;
  }
  archive = opened("a.onnxar", NULL);
  check_contents(archive);
  onnxar_close(archive);
  check_version();
  check_options();
  check_descriptor();
  check_memory_and_owner();
  check_owner_of_file();
  check_errors();
  check_null_arguments();
#ifdef ONNXAR_HAVE_TENSORS
  check_tensors();
#endif
#ifdef ONNXAR_HAVE_WRITING
  check_reading_entries();
  check_lookup();
  check_writer();
  check_verbs();
#endif
#ifdef ONNXAR_HAVE_GRAPHS
  check_graphs();
#endif
#ifdef ONNXAR_HAVE_DIGEST
  check_digest();
#endif
#ifdef ONNXAR_HAVE_STORED
  check_stored();
#endif
#ifdef ONNXAR_HAVE_EDITING
  check_editing();
#endif
  check_threads();
  if (failures == 0) printf("onnxar %s, C ABI %d: all as it should be\n", onnxar_version(), ONNXAR_C_ABI);
  return failures == 0 ? 0 : 1;
}
