/* Tests of edits, of entries in pieces, of models in memory, and of a tensor's entry. The working directory is the
 * folder that program.c describes. */
#define _POSIX_C_SOURCE 200809L

#include "checking.h"

#ifdef ONNXAR_HAVE_EDITING
#include "system.h"

#define ABI ONNXAR_C_ABI

/* Adds the file's bytes in two pieces. */
static void push(onnxar_writer* writer, const char* name, File file) {
  CHECK(onnxar_begin(writer, name, ONNXAR_TERMINATED, file.size, NULL) == ONNXAR_OK);
  CHECK(onnxar_write(writer, file.data, 3, NULL) == ONNXAR_OK);
  CHECK(onnxar_write(writer, NULL, 0, NULL) == ONNXAR_OK);
  CHECK(onnxar_write(writer, file.data + 3, file.size - 3, NULL) == ONNXAR_OK);
  CHECK(onnxar_end(writer, NULL) == ONNXAR_OK);
}

static onnxar_writer* edit_of(const char* path, onnxar_archive** before) {
  onnxar_writer* writer = NULL;
  onnxar_error* error = NULL;
  CHECK(onnxar_edit(ABI, path, NULL, &writer, before, &error) == ONNXAR_OK && writer != NULL && error == NULL);
  return writer;
}

static void check_pieces(void) {
  const File a = read_file("a.bin"), b = read_file("b.bin"), model = read_file("model.bin");
  onnxar_writer* writer = NULL;
  CHECK(onnxar_create(ABI, "pushed.onnxar", NULL, &writer, NULL) == ONNXAR_OK);
  push(writer, "a", a);
  push(writer, "b", b);
  CHECK(onnxar_finish(writer, model.data, model.size, NULL) == ONNXAR_OK);
  onnxar_writer_free(writer);
  CHECK(same_files("pushed.onnxar", "a.onnxar"));

  CHECK(onnxar_create(ABI, "failed.onnxar", NULL, &writer, NULL) == ONNXAR_OK);
  NULL_REFUSED(onnxar_begin(NULL, "a", 1, 4, &error));
  NULL_REFUSED(onnxar_begin(writer, NULL, 1, 4, &error));
  NULL_REFUSED(onnxar_write(NULL, "1234", 4, &error));
  NULL_REFUSED(onnxar_write(writer, NULL, 4, &error));
  NULL_REFUSED(onnxar_end(NULL, &error));
  CHECK(onnxar_begin(writer, "a", 1, 4, NULL) == ONNXAR_OK);
  REFUSED(ONNXAR_IO, "io.source_size", onnxar_write(writer, "12345", 5, &error));
  REFUSED(ONNXAR_USAGE, "usage.writer_failed", onnxar_end(writer, &error));
  onnxar_writer_free(writer);
  CHECK(!is_there("failed.onnxar"));
  free(a.data);
  free(b.data);
  free(model.data);
}

static void check_edit(void) {
  const File b = read_file("b.bin"), model = read_file("model.bin");
  onnxar_archive *before = NULL, *after;
  onnxar_keys* keys = NULL;
  const char* key = NULL;
  onnxar_entry entry;
  onnxar_bytes bytes;
  onnxar_writer *writer, *second = NULL;

  copy_file("a.onnxar", "edited.onnxar");
  writer = edit_of("edited.onnxar", &before);
  REFUSED(ONNXAR_IO, "archive.busy", onnxar_edit(ABI, "edited.onnxar", NULL, &second, NULL, &error));
  CHECK(onnxar_count(before) == 3);
  CHECK(onnxar_keys_for(before, &keys, NULL) == ONNXAR_OK);
  CHECK(onnxar_make_key(keys, "b", 1, &key, NULL) == ONNXAR_OK && strcmp(key, "b_2") == 0);
  push(writer, key, b);
  CHECK(onnxar_add_graph(writer, "second", 6, model.data, model.size, NULL) == ONNXAR_OK);
  CHECK(onnxar_finish(writer, model.data, model.size, NULL) == ONNXAR_OK);
  REFUSED(ONNXAR_USAGE, "usage.writer_finished", onnxar_add(writer, "c", 1, "1234", 4, &error));
  onnxar_writer_free(writer);
  onnxar_close(before); /* outlives the writer */

  after = opened("edited.onnxar", NULL);
  CHECK(onnxar_find(after, key, ONNXAR_TERMINATED, &entry, NULL) == ONNXAR_OK && entry.index == 2);
  CHECK(onnxar_get_bytes(after, entry.index, &bytes, NULL) == ONNXAR_OK && same(bytes, b));
  CHECK(onnxar_next_graph(after, 0, &entry, NULL) == ONNXAR_OK && entry.index == 3);
  onnxar_close(after);
  onnxar_keys_free(keys);
  CHECK(passes("edited.onnxar"));

  writer = edit_of("edited.onnxar", NULL);
  CHECK(onnxar_remove(writer, "second.onnx", ONNXAR_TERMINATED, NULL) == ONNXAR_OK);
  CHECK(onnxar_finish(writer, model.data, model.size, NULL) == ONNXAR_OK);
  onnxar_writer_free(writer);
  after = opened("edited.onnxar", NULL);
  CHECK(onnxar_count(after) == 4);
  onnxar_close(after);
  CHECK(onnxar_undo(ABI, "edited.onnxar", NULL, NULL, NULL) == ONNXAR_OK);
  CHECK(onnxar_undo(ABI, "edited.onnxar", NULL, NULL, NULL) == ONNXAR_OK);
  CHECK(same_files("edited.onnxar", "a.onnxar"));
  free(b.data);
  free(model.data);
}

static void check_failed_edits(void) {
  onnxar_writer_options options = {0};
  onnxar_archive* before = NULL;
  onnxar_writer* writer = NULL;
  options.struct_size = sizeof options;
  options.overwrite = 1;
  REFUSED(ONNXAR_USAGE, "usage.argument", onnxar_edit(ABI, "edited.onnxar", &options, &writer, &before, &error));
  options.overwrite = 0;
  options.alignment = 64;
  REFUSED(ONNXAR_USAGE, "usage.argument", onnxar_edit(ABI, "edited.onnxar", &options, &writer, &before, &error));
  REFUSED(ONNXAR_USAGE, "usage.argument", onnxar_edit(ABI + 1, "edited.onnxar", NULL, &writer, &before, &error));
  REFUSED(ONNXAR_IO, "io.not_found", onnxar_edit(ABI, "none", NULL, &writer, &before, &error));
  NULL_REFUSED(onnxar_edit(ABI, NULL, NULL, &writer, &before, &error));
  NULL_REFUSED(onnxar_edit(ABI, "edited.onnxar", NULL, NULL, &before, &error));
  CHECK(writer == NULL && before == NULL);

  writer = edit_of("edited.onnxar", NULL);
  CHECK(onnxar_add(writer, "c", 1, "1234", 4, NULL) == ONNXAR_OK);
  REFUSED(ONNXAR_FORMAT, "wire.truncated", onnxar_finish(writer, "\x0a\x05", 2, &error));
  onnxar_writer_free(writer);
  CHECK(same_files("edited.onnxar", "a.onnxar"));

  writer = edit_of("edited.onnxar", NULL);
  NULL_REFUSED(onnxar_remove(NULL, "a", 1, &error));
  NULL_REFUSED(onnxar_remove(writer, NULL, 1, &error));
  onnxar_writer_free(writer);
  writer = edit_of("edited.onnxar", NULL);
  REFUSED(ONNXAR_USAGE, "usage.argument", onnxar_remove(writer, "a", 1, &error)); /* a weight */
  onnxar_writer_free(writer);
  writer = edit_of("edited.onnxar", NULL);
  REFUSED(ONNXAR_USAGE, "usage.no_such_entry", onnxar_remove(writer, "c", 1, &error));
  onnxar_writer_free(writer);
  CHECK(onnxar_create(ABI, "new.onnxar", NULL, &writer, NULL) == ONNXAR_OK);
  REFUSED(ONNXAR_USAGE, "usage.argument", onnxar_remove(writer, "a", 1, &error));
  onnxar_writer_free(writer);
  CHECK(!is_there("new.onnxar") && same_files("edited.onnxar", "a.onnxar"));
}

static void check_keys_of_archive(void) {
  onnxar_archive* archive = opened("a.onnxar", NULL);
  onnxar_keys* keys = NULL;
  NULL_REFUSED(onnxar_keys_for(NULL, &keys, &error));
  NULL_REFUSED(onnxar_keys_for(archive, NULL, &error));
  CHECK(keys == NULL);
  onnxar_close(archive);
}

static void check_memory_models(void) {
  const File archive = read_file("a.onnxar"), model = read_file("model.bin");
  onnxar_report* report = NULL;
  onnxar_options options = no_options();
  options.overwrite = 1;
  CHECK(onnxar_pack(ABI, "a.onnxar", "file.onnxar", NULL, NULL, NULL) == ONNXAR_OK);
  CHECK(onnxar_pack_memory(ABI, archive.data, archive.size, "memory.onnxar", NULL, &report, NULL) == ONNXAR_OK);
  CHECK(onnxar_report_number(report, ONNXAR_REPORT_TENSORS) == 2);
  onnxar_report_free(report);
  CHECK(same_files("file.onnxar", "memory.onnxar"));
  REFUSED(ONNXAR_USAGE, "output.exists",
          onnxar_pack_memory(ABI, archive.data, archive.size, "memory.onnxar", NULL, NULL, &error));
  NULL_REFUSED(onnxar_pack_memory(ABI, NULL, 4, "memory.onnxar", &options, NULL, &error));
  NULL_REFUSED(onnxar_pack_memory(ABI, archive.data, archive.size, NULL, NULL, NULL, &error));
  REFUSED(ONNXAR_USAGE, "usage.argument",
          onnxar_pack_memory(ABI + 1, archive.data, archive.size, "y.onnxar", NULL, NULL, &error));

  CHECK(onnxar_replace_memory(ABI, "memory.onnxar", model.data, model.size, NULL, &report, NULL) == ONNXAR_OK);
  CHECK(onnxar_report_number(report, ONNXAR_REPORT_TENSORS) == 2);
  CHECK(onnxar_report_number(report, ONNXAR_REPORT_ENTRIES) == 0);
  onnxar_report_free(report);
  CHECK(passes("memory.onnxar"));
  NULL_REFUSED(onnxar_replace_memory(ABI, NULL, model.data, model.size, NULL, NULL, &error));
  NULL_REFUSED(onnxar_replace_memory(ABI, "memory.onnxar", NULL, 4, NULL, NULL, &error));
  REFUSED(ONNXAR_USAGE, "usage.argument",
          onnxar_replace_memory(ABI, "memory.onnxar", model.data, model.size, &options, NULL, &error));
  free(archive.data);
  free(model.data);
}

static void check_tensor_entry(void) {
  onnxar_options options = no_options();
  onnxar_archive* archive = opened("a.onnxar", NULL);
  onnxar_tensors* tensors = NULL;
  onnxar_entry entry;
  CHECK(onnxar_get_tensors(archive, &tensors, NULL) == ONNXAR_OK);
  CHECK(onnxar_get_tensor_entry(tensors, 1, &entry, NULL) == ONNXAR_OK);
  CHECK(entry.index == 1 && entry.name_length == 1 && entry.name[0] == 'b');
  REFUSED(ONNXAR_USAGE, "usage.no_such_tensor", onnxar_get_tensor_entry(tensors, 2, &entry, &error));
  NULL_REFUSED(onnxar_get_tensor_entry(NULL, 0, &entry, &error));
  NULL_REFUSED(onnxar_get_tensor_entry(tensors, 0, NULL, &error));
  onnxar_tensors_free(tensors);
  onnxar_close(archive);

  options.threshold = UINT64_MAX;
  CHECK(onnxar_pack(ABI, "a.onnxar", "inline.onnxar", &options, NULL, NULL) == ONNXAR_OK);
  archive = opened("inline.onnxar", NULL);
  CHECK(onnxar_get_tensors(archive, &tensors, NULL) == ONNXAR_OK);
  CHECK(onnxar_get_tensor_entry(tensors, 1, &entry, NULL) == ONNXAR_OK);
  CHECK(entry.index == onnxar_count(archive) - 1);
  onnxar_tensors_free(tensors);
  onnxar_close(archive);
}

void check_editing(void) {
  check_pieces();
  check_edit();
  check_failed_edits();
  check_keys_of_archive();
  check_memory_models();
  check_tensor_entry();
}

#else
typedef int no_edits_to_check; /* C99 has no empty files */
#endif
