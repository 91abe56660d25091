/* Tests of the verbs: pack, unpack, check, repack, link, extract, replace, undo and recover, with their options. The
 * working directory is the folder that program.c describes. */
#define _POSIX_C_SOURCE 200809L

#include <stddef.h>

#include "checking.h"

#ifdef ONNXAR_HAVE_WRITING
#include "system.h"

#define ABI ONNXAR_C_ABI

typedef struct Progress {
  uint64_t done, total;
  int answer;
} Progress;

static int note_progress(void* context, uint64_t done, uint64_t total) {
  Progress* progress = context;
  progress->done = done;
  progress->total = total;
  return progress->answer;
}

static void check_hints(void) {
  onnxar_writer* writer = NULL;
  onnxar_error* error = NULL;
  CHECK(onnxar_create(ABI, "a.onnxar", NULL, &writer, &error) == ONNXAR_USAGE);
  CHECK(strcmp(onnxar_error_hint(error), "output.overwrite") == 0 && onnxar_error_hint_value(error)[0] == '\0');
  onnxar_error_free(error);
  CHECK(onnxar_error_hint(NULL)[0] == '\0' && onnxar_error_hint_value(NULL)[0] == '\0');
}

static void check_pack_and_unpack(void) {
  const File a = read_file("a.bin"), b = read_file("b.bin");
  Progress progress = {0, 0, 0};
  onnxar_options options = no_options();
  onnxar_report* report = NULL;

  CHECK(onnxar_unpack(ABI, "a.onnxar", "inline.onnx", NULL, NULL, NULL) == ONNXAR_OK);
  options.progress = note_progress;
  options.progress_context = &progress;
  options.threads = 1;
  CHECK(onnxar_pack(ABI, "inline.onnx", "packed.onnxar", &options, &report, NULL) == ONNXAR_OK);
  CHECK(same_files("packed.onnxar", "a.onnxar"));
  CHECK(progress.done == progress.total && progress.total > a.size + b.size);
  CHECK(onnxar_report_number(report, ONNXAR_REPORT_TENSORS) == 2);
  CHECK(onnxar_report_number(report, ONNXAR_REPORT_ENTRIES) == 2);
  CHECK(onnxar_report_number(report, ONNXAR_REPORT_DATA_BYTES) == a.size + b.size);
  CHECK(onnxar_report_number(report, 0) == 0 && onnxar_report_number(report, 1000) == 0);
  onnxar_report_free(report);

  REFUSED(ONNXAR_USAGE, "output.exists", onnxar_pack(ABI, "inline.onnx", "packed.onnxar", NULL, NULL, &error));
  options.overwrite = 1;
  options.threshold = 1 << 20;
  options.checksum_sha1 = 1;
  CHECK(onnxar_pack(ABI, "inline.onnx", "packed.onnxar", &options, &report, NULL) == ONNXAR_OK);
  CHECK(onnxar_report_number(report, ONNXAR_REPORT_TENSORS) == 0);
  onnxar_report_free(report);
  progress.answer = 1;
  options = no_options();
  options.progress = note_progress;
  options.progress_context = &progress;
  REFUSED(ONNXAR_USAGE, "c.callback", onnxar_unpack(ABI, "a.onnxar", "x.onnx", &options, NULL, &error));
  CHECK(!is_there("x.onnx"));

  options = no_options();
  options.data_file = "x.data";
  options.dry_run = 1;
  CHECK(onnxar_unpack(ABI, "a.onnxar", "x.onnx", &options, NULL, NULL) == ONNXAR_OK && !is_there("x.data"));
  options.dry_run = 0;
  CHECK(onnxar_unpack(ABI, "a.onnxar", "x.onnx", &options, NULL, NULL) == ONNXAR_OK && is_there("x.data"));
  options.data_file = "\xff";
  REFUSED(ONNXAR_USAGE, "usage.argument", onnxar_unpack(ABI, "a.onnxar", "y.onnx", &options, NULL, &error));
  options.overwrite = options.file_per_tensor = 1;
  options.data_file = "x.data";
  REFUSED(ONNXAR_USAGE, "usage.argument", onnxar_unpack(ABI, "a.onnxar", "y.onnx", &options, NULL, &error));
  options.data_file = NULL;
  CHECK(onnxar_unpack(ABI, "a.onnxar", "x.onnx", &options, NULL, NULL) == ONNXAR_OK && passes("x.onnx"));
  free(a.data);
  free(b.data);
}

static void check_findings(void) {
  onnxar_report* report = NULL;
  onnxar_finding finding;
  CHECK(passes("a.onnxar"));
  CHECK(onnxar_check(ABI, "broken.onnxar", NULL, &report, NULL) == ONNXAR_OK && !onnxar_passed(report));
  CHECK(onnxar_finding_count(report) > 0);
  CHECK(onnxar_get_finding(report, 0, &finding, NULL) == ONNXAR_OK);
  CHECK(finding.severity == 0 && finding.has_offset == 1 && finding.offset == 0);
  CHECK(strcmp(finding.code, "zip.local.field") == 0 && strcmp(finding.entry, "a") == 0);
  CHECK(strstr(finding.line, finding.message) != NULL && strstr(finding.line, "error[zip.local.field]") != NULL);
  REFUSED(ONNXAR_USAGE, "usage.argument", onnxar_get_finding(report, onnxar_finding_count(report), &finding, &error));
  NULL_REFUSED(onnxar_get_finding(NULL, 0, &finding, &error));
  NULL_REFUSED(onnxar_get_finding(report, 0, NULL, &error));
  onnxar_report_free(report);
  onnxar_report_free(NULL);
  CHECK(onnxar_passed(NULL) == 0 && onnxar_finding_count(NULL) == 0 && onnxar_report_number(NULL, 1) == 0);
}

static void check_repack_and_link(void) {
  const File a = read_file("a.bin");
  onnxar_options options = no_options();
  onnxar_report* report = NULL;

  CHECK(onnxar_repack(ABI, "plain.zip", "repacked.onnxar", NULL, &report, NULL) == ONNXAR_OK);
  CHECK(onnxar_report_number(report, ONNXAR_REPORT_ENTRIES) == 2 && onnxar_finding_count(report) > 0);
  CHECK(onnxar_passed(report)); /* the remarks are notes */
  onnxar_report_free(report);
  CHECK(passes("repacked.onnxar"));

  CHECK(onnxar_link(ABI, "a.onnxar", "link.onnx", NULL, &report, NULL) == ONNXAR_OK && passes("link.onnx"));
  CHECK(onnxar_report_number(report, ONNXAR_REPORT_TENSORS) == 2);
  onnxar_report_free(report);

  options.raw = 1;
  CHECK(onnxar_extract(ABI, "link.onnx", "a", "extracted.bin", &options, &report, NULL) == ONNXAR_OK);
  CHECK(same_files("extracted.bin", "a.bin"));
  CHECK(onnxar_report_number(report, ONNXAR_REPORT_FILE_BYTES) == a.size);
  onnxar_report_free(report);
  CHECK(onnxar_extract(ABI, "a.onnxar", "*", "extracted/", NULL, NULL, NULL) == ONNXAR_OK);
  CHECK(is_there("extracted/a.npy") && is_there("extracted/b.npy"));
  REFUSED(ONNXAR_USAGE, "usage.no_such_tensor", onnxar_extract(ABI, "a.onnxar", "c", "c.npy", NULL, NULL, &error));
  options.overwrite = 1;
  REFUSED(ONNXAR_USAGE, "usage.argument", onnxar_extract(ABI, "link.onnx", "a", "./link.onnx", &options, NULL, &error));
  free(a.data);
}

static void check_options_of_a_model_without_one(void) {
  const onnxar_added_file note = {"other.txt", "b.bin"};
  const onnxar_options added = {.struct_size = sizeof(onnxar_options), .add = &note, .add_count = 1};
  onnxar_options options[4] = {added, added, added, added};
  size_t i;
  options[0].graph = "other";
  options[1].append_external = 1;
  options[2].threshold = 5;
  options[3].external_data_dir = ".";
  for (i = 0; i < 4; ++i) {
    REFUSED(ONNXAR_USAGE, "usage.argument", onnxar_replace(ABI, "edited.onnxar", NULL, &options[i], NULL, &error));
  }
}

static void check_edits(void) {
  const onnxar_added_file note = {"note.txt", "b.bin"};
  const char* const removed[] = {"note.txt"};
  onnxar_options options = no_options();
  onnxar_report* report = NULL;
  uint64_t before;
  File file;

  copy_file("a.onnxar", "edited.onnxar");
  options.add = &note;
  options.add_count = 1;
  CHECK(onnxar_replace(ABI, "edited.onnxar", "inline.onnx", &options, &report, NULL) == ONNXAR_OK);
  CHECK(onnxar_report_number(report, ONNXAR_REPORT_ENTRIES) == 1);
  before = onnxar_report_number(report, ONNXAR_REPORT_FILE_BYTES_BEFORE);
  CHECK(before < onnxar_report_number(report, ONNXAR_REPORT_FILE_BYTES));
  CHECK(onnxar_report_number(report, ONNXAR_REPORT_DISCARDS_STATES) == 0);
  onnxar_report_free(report);
  CHECK(passes("edited.onnxar"));

  CHECK(onnxar_undo(ABI, "edited.onnxar", NULL, &report, NULL) == ONNXAR_OK);
  CHECK(onnxar_report_number(report, ONNXAR_REPORT_FILE_BYTES) == before);
  onnxar_report_free(report);
  CHECK(same_files("edited.onnxar", "a.onnxar"));
  REFUSED(ONNXAR_USAGE, "usage.nothing_to_undo", onnxar_undo(ABI, "edited.onnxar", NULL, NULL, &error));

  CHECK(onnxar_replace(ABI, "edited.onnxar", NULL, &options, NULL, NULL) == ONNXAR_OK);
  options = no_options();
  options.remove = removed;
  options.remove_count = 1;
  CHECK(onnxar_replace(ABI, "edited.onnxar", NULL, &options, NULL, NULL) == ONNXAR_OK);
  REFUSED(ONNXAR_USAGE, "usage.no_such_entry", onnxar_replace(ABI, "edited.onnxar", NULL, &options, NULL, &error));
  REFUSED(ONNXAR_USAGE, "usage.argument", onnxar_replace(ABI, "edited.onnxar", NULL, NULL, NULL, &error));
  check_options_of_a_model_without_one();

  options = no_options();
  options.threshold = 1U << 20U;
  CHECK(onnxar_pack(ABI, "inline.onnx", "alone.onnxar", &options, NULL, NULL) == ONNXAR_OK);
  CHECK(onnxar_replace(ABI, "alone.onnxar", "inline.onnx", &options, &report, NULL) == ONNXAR_OK);
  CHECK(onnxar_report_number(report, ONNXAR_REPORT_DISCARDS_STATES) == 1);
  onnxar_report_free(report);
  REFUSED(ONNXAR_USAGE, "usage.nothing_to_undo", onnxar_undo(ABI, "alone.onnxar", NULL, NULL, &error));

  copy_file("a.onnxar", "torn.onnxar");
  CHECK(onnxar_replace(ABI, "torn.onnxar", "inline.onnx", NULL, NULL, NULL) == ONNXAR_OK);
  file = read_file("torn.onnxar");
  write_file("torn.onnxar", file.data, file.size - 1);
  free(file.data);
  REFUSED(ONNXAR_FORMAT, "archive.torn", onnxar_undo(ABI, "torn.onnxar", NULL, NULL, &error));
  CHECK(onnxar_recover(ABI, "torn.onnxar", NULL, NULL, NULL) == ONNXAR_OK);
  CHECK(same_files("torn.onnxar", "a.onnxar"));
}

static void check_recover_of_damaged_edits(void) {
  onnxar_options options = no_options();
  const File before = read_file("a.onnxar");
  File file;

  copy_file("a.onnxar", "damaged.onnxar");
  CHECK(onnxar_replace(ABI, "damaged.onnxar", "inline.onnx", NULL, NULL, NULL) == ONNXAR_OK);
  file = read_file("damaged.onnxar");
  file.data[before.size] ^= 1; /* the first byte of what the edit appended */
  write_file("damaged.onnxar", file.data, file.size);
  free(file.data);
  free(before.data);
  REFUSED(ONNXAR_FORMAT, "archive.unrecoverable", onnxar_recover(ABI, "damaged.onnxar", NULL, NULL, &error));
  options.overwrite = 1;
  CHECK(onnxar_recover(ABI, "damaged.onnxar", &options, NULL, NULL) == ONNXAR_OK);
  CHECK(same_files("damaged.onnxar", "a.onnxar"));
}

/* Each verb reports up to its total; an answer other than 0 ends it, and leaves no output. */
static void check_progress_of_verbs(void) {
  const onnxar_added_file note = {"note.txt", "b.bin"};
  Progress progress = {0, 0, 0};
  onnxar_options options = no_options();
  onnxar_report* report = NULL;

  options.progress = note_progress;
  options.progress_context = &progress;
  CHECK(onnxar_repack(ABI, "plain.zip", "told.onnxar", &options, NULL, NULL) == ONNXAR_OK);
  CHECK(progress.done != 0 && progress.done == progress.total);
  progress.done = 0;
  CHECK(onnxar_extract(ABI, "told.onnxar", "*", "told/", &options, NULL, NULL) == ONNXAR_OK);
  CHECK(progress.done != 0 && progress.done == progress.total);
  progress.done = 0;
  options.add = &note;
  options.add_count = 1;
  CHECK(onnxar_replace(ABI, "told.onnxar", NULL, &options, NULL, NULL) == ONNXAR_OK);
  CHECK(progress.done != 0 && progress.done == progress.total);
  progress.done = 0;
  options.add = NULL;
  options.add_count = 0;
  options.data = 1;
  CHECK(onnxar_check(ABI, "told.onnxar", &options, &report, NULL) == ONNXAR_OK);
  CHECK(progress.done != 0 && progress.done == progress.total);
  onnxar_report_free(report);

  progress.answer = 1;
  REFUSED(ONNXAR_USAGE, "c.callback", onnxar_check(ABI, "told.onnxar", &options, &report, &error));
  options.data = 0;
  REFUSED(ONNXAR_USAGE, "c.callback", onnxar_repack(ABI, "plain.zip", "ended.onnxar", &options, NULL, &error));
  CHECK(!is_there("ended.onnxar"));
}

static void check_options_of_verbs(void) {
  onnxar_options options = no_options();
  onnxar_report* report = NULL;
  const char* const nothing[] = {NULL};
  const onnxar_added_file unnamed = {NULL, "b.bin"};
  const onnxar_added_file twice[] = {{"note.txt", "a.bin"}, {"note.txt", "b.bin"}};

  options.strict = 1;
  REFUSED(ONNXAR_USAGE, "usage.argument", onnxar_pack(ABI, "inline.onnx", "y.onnxar", &options, NULL, &error));
  options = no_options();
  options.dry_run = 1;
  REFUSED(ONNXAR_USAGE, "usage.argument", onnxar_check(ABI, "a.onnxar", &options, &report, &error));
  options = no_options();
  options.add_count = 1;
  NULL_REFUSED(onnxar_pack(ABI, "inline.onnx", "y.onnxar", &options, NULL, &error));
  options.add = &unnamed;
  NULL_REFUSED(onnxar_pack(ABI, "inline.onnx", "y.onnxar", &options, NULL, &error));
  options.add = twice;
  options.add_count = 2;
  REFUSED(ONNXAR_USAGE, "usage.argument", onnxar_pack(ABI, "inline.onnx", "y.onnxar", &options, NULL, &error));
  options = no_options();
  options.remove_count = 1;
  options.remove = nothing;
  NULL_REFUSED(onnxar_replace(ABI, "a.onnxar", NULL, &options, NULL, &error));
  options.struct_size = offsetof(onnxar_options, progress_context);
  REFUSED(ONNXAR_USAGE, "usage.argument", onnxar_pack(ABI, "inline.onnx", "y.onnxar", &options, NULL, &error));
  CHECK(!is_there("y.onnxar") && report == NULL);
}

static void check_null_arguments_of_verbs(void) {
  onnxar_report* report = NULL;
  NULL_REFUSED(onnxar_pack(ABI, NULL, "y.onnxar", NULL, NULL, &error));
  NULL_REFUSED(onnxar_pack(ABI, "inline.onnx", NULL, NULL, NULL, &error));
  NULL_REFUSED(onnxar_unpack(ABI, NULL, "y.onnx", NULL, NULL, &error));
  NULL_REFUSED(onnxar_unpack(ABI, "a.onnxar", NULL, NULL, NULL, &error));
  NULL_REFUSED(onnxar_check(ABI, NULL, NULL, &report, &error));
  NULL_REFUSED(onnxar_check(ABI, "a.onnxar", NULL, NULL, &error));
  NULL_REFUSED(onnxar_repack(ABI, NULL, "y.onnxar", NULL, NULL, &error));
  NULL_REFUSED(onnxar_repack(ABI, "plain.zip", NULL, NULL, NULL, &error));
  NULL_REFUSED(onnxar_replace(ABI, NULL, "inline.onnx", NULL, NULL, &error));
  NULL_REFUSED(onnxar_undo(ABI, NULL, NULL, NULL, &error));
  NULL_REFUSED(onnxar_recover(ABI, NULL, NULL, NULL, &error));
  NULL_REFUSED(onnxar_link(ABI, NULL, "y.onnx", NULL, NULL, &error));
  NULL_REFUSED(onnxar_link(ABI, "a.onnxar", NULL, NULL, NULL, &error));
  NULL_REFUSED(onnxar_extract(ABI, NULL, "a", "y.npy", NULL, NULL, &error));
  NULL_REFUSED(onnxar_extract(ABI, "a.onnxar", NULL, "y.npy", NULL, NULL, &error));
  NULL_REFUSED(onnxar_extract(ABI, "a.onnxar", "a", NULL, NULL, NULL, &error));
}

#define ABI_REFUSED(call) REFUSED(ONNXAR_USAGE, "usage.argument", call)

static void check_abi_of_verbs(void) {
  onnxar_report* report = NULL;
  ABI_REFUSED(onnxar_pack(0, "inline.onnx", "y.onnxar", NULL, NULL, &error));
  ABI_REFUSED(onnxar_unpack(0, "a.onnxar", "y.onnx", NULL, NULL, &error));
  ABI_REFUSED(onnxar_check(0, "a.onnxar", NULL, &report, &error));
  ABI_REFUSED(onnxar_repack(0, "plain.zip", "y.onnxar", NULL, NULL, &error));
  ABI_REFUSED(onnxar_replace(0, "a.onnxar", "inline.onnx", NULL, NULL, &error));
  ABI_REFUSED(onnxar_undo(0, "a.onnxar", NULL, NULL, &error));
  ABI_REFUSED(onnxar_recover(0, "a.onnxar", NULL, NULL, &error));
  ABI_REFUSED(onnxar_link(0, "a.onnxar", "y.onnx", NULL, NULL, &error));
  ABI_REFUSED(onnxar_extract(0, "a.onnxar", "a", "y.npy", NULL, NULL, &error));
  CHECK(!is_there("y.onnxar") && !is_there("y.onnx") && !is_there("y.npy") && report == NULL);
}

void check_verbs(void) {
  check_hints();
  check_pack_and_unpack();
  check_findings();
  check_repack_and_link();
  check_edits();
  check_recover_of_damaged_edits();
  check_progress_of_verbs();
  check_options_of_verbs();
  check_null_arguments_of_verbs();
  check_abi_of_verbs();
}
#endif
