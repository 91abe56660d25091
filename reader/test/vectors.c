/* Reads archives and prints what onnxar_reader says of each, for run.py.
 *
 * A line of standard input is `WAY MAX_ENTRIES MAX_DIRECTORY MAX_MODEL PATH`: WAY is `file` (onnxar_reader_open) or
 * `callbacks`, a limit of 0 is the default. The answer is a line of JSON: {"tensors": N} or the stage and the error. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "onnxar_reader.h"

static int read_file(void* file, uint64_t offset, size_t length, void* buffer) {
  return fseek((FILE*)file, (long)offset, SEEK_SET) != 0 || fread(buffer, 1, length, (FILE*)file) != length;
}

static int open_by_callbacks(FILE* file, const onnxar_reader_options* options, onnxar_reader** archive,
                             onnxar_reader_error* error) {
  onnxar_reader_source source;
  fseek(file, 0, SEEK_END);
  source.size = (uint64_t)ftell(file);
  source.read = read_file;
  source.context = file;
  return onnxar_reader_open_source(&source, options, archive, error);
}

static int use_all(const onnxar_reader* archive, onnxar_reader_error* error) {
  onnxar_reader_range range;
  for (size_t i = 0; i < onnxar_reader_count(archive); ++i) {
    if (onnxar_reader_get_data(archive, i, &range, error) < 0) return -1;
  }
  return 0;
}

static int walk_all(const onnxar_reader* archive, size_t* tensors, onnxar_reader_error* error) {
  onnxar_reader_walk* walk;
  onnxar_reader_tensor tensor;
  int more = onnxar_reader_walk_open(archive, onnxar_reader_model(archive), &walk, error);
  *tensors = 0;
  if (more < 0) return -1;
  while ((more = onnxar_reader_walk_next(walk, &tensor, error)) > 0) ++*tensors;
  onnxar_reader_walk_close(walk);
  return more;
}

/* The stage that refuses the archive, or NULL. */
static const char* read_all(const onnxar_reader* archive, size_t* tensors, onnxar_reader_error* error) {
  if (use_all(archive, error) < 0) return "use";
  if (onnxar_reader_check(archive, 0, error) < 0) return "check";
  if (onnxar_reader_check(archive, OAR_CHECK_DATA, error) < 0) return "data";
  return walk_all(archive, tensors, error) < 0 ? "walk" : NULL;
}

static void answer(const char* stage, size_t tensors, const onnxar_reader_error* error) {
  if (!stage) {
    printf("{\"tensors\": %lu}\n", (unsigned long)tensors);
    return;
  }
  printf("{\"stage\": \"%s\", \"code\": \"%s\", \"rule\": \"%s\", \"offset\": %llu, \"length\": %lu, \"entry\": \"",
         stage, error->code, error->rule, (unsigned long long)error->offset, (unsigned long)error->entry_length);
  for (size_t i = 0; i < error->entry_length && i + 1 < sizeof error->entry; ++i) {
    printf("%02x", (unsigned)(unsigned char)error->entry[i]);
  }
  puts("\"}");
}

int main(void) {
  static char line[8192], way[16];
  unsigned long long entries, directory, model;
  int path;
  while (fgets(line, sizeof line, stdin)) {
    onnxar_reader_options options;
    onnxar_reader_error error;
    onnxar_reader* archive = NULL;
    size_t tensors = 0;
    FILE* file;
    const char* stage = "open";
    int result;
    line[strcspn(line, "\n")] = '\0';
    if (sscanf(line, "%15s %llu %llu %llu %n", way, &entries, &directory, &model, &path) != 4) return 1;
    memset(&options, 0, sizeof options);
    options.max_entries = entries;
    options.max_directory = directory;
    options.max_model = model;
    file = fopen(line + path, "rb");
    if (!file) return 1;
    result = strcmp(way, "file") == 0 ? onnxar_reader_open(line + path, &options, &archive, &error)
                                      : open_by_callbacks(file, &options, &archive, &error);
    if (result == 0) stage = read_all(archive, &tensors, &error);
    answer(stage, tensors, &error);
    fflush(stdout);
    onnxar_reader_close(archive);
    fclose(file);
  }
  return 0;
}
