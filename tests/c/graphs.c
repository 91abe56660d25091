/* Tests of several models in one archive. The working directory is the folder that program.c describes. */
#define _POSIX_C_SOURCE 200809L

#include "checking.h"

#ifdef ONNXAR_HAVE_GRAPHS
#include "system.h"

#define ABI ONNXAR_C_ABI

static int is_named(const onnxar_entry* entry, const char* name) {
  return entry->name_length == strlen(name) && memcmp(entry->name, name, entry->name_length) == 0;
}

/* a.onnxar as a model and as a graph with the same weights, which are there once. */
static void check_packing(void) {
  const onnxar_added_file models[] = {{NULL, "a.onnxar"}, {"second", "a.onnxar"}};
  const onnxar_added_file unnamed_models[] = {{NULL, "a.onnxar"}, {NULL, "a.onnxar"}};
  const onnxar_added_file unnamed = {"second", NULL};
  onnxar_report* report = NULL;
  onnxar_error* error = NULL;

  CHECK(onnxar_pack_models(ABI, models, 2, "family.onnxar", NULL, &report, NULL) == ONNXAR_OK);
  CHECK(onnxar_report_number(report, ONNXAR_REPORT_TENSORS) == 4);
  CHECK(onnxar_report_number(report, ONNXAR_REPORT_ENTRIES) == 2);
  onnxar_report_free(report);
  REFUSED(ONNXAR_USAGE, "output.exists", onnxar_pack_models(ABI, models, 2, "family.onnxar", NULL, NULL, &error));
  REFUSED(ONNXAR_USAGE, "usage.argument", onnxar_pack_models(ABI, models, 0, "y.onnxar", NULL, NULL, &error));
  CHECK(onnxar_pack_models(ABI, unnamed_models, 2, "y.onnxar", NULL, NULL, &error) == ONNXAR_USAGE);
  CHECK(strstr(onnxar_error_message(error), "`name` of a model in onnxar_pack_models") != NULL);
  onnxar_error_free(error);
  REFUSED(ONNXAR_USAGE, "usage.argument", onnxar_pack_models(ABI + 1, models, 2, "y.onnxar", NULL, NULL, &error));
  NULL_REFUSED(onnxar_pack_models(ABI, NULL, 2, "y.onnxar", NULL, NULL, &error));
  NULL_REFUSED(onnxar_pack_models(ABI, &unnamed, 1, "y.onnxar", NULL, NULL, &error));
  NULL_REFUSED(onnxar_pack_models(ABI, models, 2, NULL, NULL, NULL, &error));
  CHECK(!is_there("y.onnxar"));
}

static void check_listing(const onnxar_archive* family) {
  onnxar_archive* alone = opened("a.onnxar", NULL);
  onnxar_entry entry;
  CHECK(onnxar_next_graph(family, 0, &entry, NULL) == ONNXAR_OK && entry.index == 2);
  CHECK(is_named(&entry, "second.onnx"));
  CHECK(onnxar_next_graph(family, 2, &entry, NULL) == ONNXAR_OK && entry.index == 2);
  REFUSED(ONNXAR_USAGE, "usage.no_such_entry", onnxar_next_graph(family, 3, &entry, &error));
  REFUSED(ONNXAR_USAGE, "usage.no_such_entry", onnxar_next_graph(family, UINT64_MAX, &entry, &error));
  REFUSED(ONNXAR_USAGE, "usage.no_such_entry", onnxar_next_graph(alone, 0, &entry, &error));
  NULL_REFUSED(onnxar_next_graph(NULL, 0, &entry, &error));
  NULL_REFUSED(onnxar_next_graph(family, 0, NULL, &error));
  onnxar_close(alone);
}

/* The graph outlives the archive, and its weights are the same bytes at the same address. */
static void check_opening(onnxar_archive* family) {
  onnxar_archive *graph = NULL, *other = NULL;
  onnxar_entry entry;
  onnxar_tensors* tensors = NULL;
  onnxar_bytes model, bytes, same_bytes;
  uint64_t index;

  CHECK(onnxar_open_graph(family, "second and more", 6, &graph, NULL) == ONNXAR_OK);
  CHECK(onnxar_open_graph(family, "a.onnx", ONNXAR_TERMINATED, &other, NULL) == ONNXAR_OK);
  onnxar_close(other);
  other = NULL;
  REFUSED(ONNXAR_USAGE, "usage.no_such_entry", onnxar_open_graph(family, "third", 5, &other, &error));
  NULL_REFUSED(onnxar_open_graph(NULL, "second", 6, &other, &error));
  NULL_REFUSED(onnxar_open_graph(family, NULL, 6, &other, &error));
  NULL_REFUSED(onnxar_open_graph(family, "second", 6, NULL, &error));
  CHECK(other == NULL);
  CHECK(onnxar_resolve(family, "b", 1, 0, ONNXAR_TO_END, &same_bytes, NULL) == ONNXAR_OK);
  CHECK(onnxar_find(family, "second.onnx", ONNXAR_TERMINATED, &entry, NULL) == ONNXAR_OK);
  onnxar_close(family);
  CHECK(onnxar_model(graph, &model, NULL) == ONNXAR_OK && model.size == entry.size);
  CHECK(onnxar_get_tensors(graph, &tensors, NULL) == ONNXAR_OK && onnxar_tensor_count(tensors) == 2);
  CHECK(onnxar_lookup(tensors, "b", 1, &index, NULL) == ONNXAR_OK);
  CHECK(onnxar_get_tensor_bytes(tensors, index, &bytes, NULL) == ONNXAR_OK && bytes.data == same_bytes.data);
  onnxar_tensors_free(tensors);
  onnxar_close(graph);
}

/* The option `graph`. */
static void check_verbs_of_a_graph(void) {
  onnxar_options options = no_options();
  onnxar_report* report = NULL;
  options.graph = "second";
  CHECK(onnxar_unpack(ABI, "family.onnxar", "second.onnx", &options, NULL, NULL) == ONNXAR_OK);
  CHECK(onnxar_link(ABI, "family.onnxar", "second_link.onnx", &options, NULL, NULL) == ONNXAR_OK);
  CHECK(onnxar_extract(ABI, "family.onnxar", "a", "second_a.npy", &options, NULL, NULL) == ONNXAR_OK);
  CHECK(onnxar_pack(ABI, "family.onnxar", "second.onnxar", &options, &report, NULL) == ONNXAR_OK);
  CHECK(onnxar_report_number(report, ONNXAR_REPORT_TENSORS) == 2);
  onnxar_report_free(report);
  options.graph = "third";
  CHECK(onnxar_replace(ABI, "family.onnxar", "second.onnx", &options, &report, NULL) == ONNXAR_OK);
  CHECK(onnxar_report_number(report, ONNXAR_REPORT_ENTRIES) == 1); /* the graph: its weights are there */
  onnxar_report_free(report);
  options.graph = "fourth";
  REFUSED(ONNXAR_USAGE, "usage.no_such_entry",
          onnxar_unpack(ABI, "family.onnxar", "fourth.onnx", &options, NULL, &error));
  REFUSED(ONNXAR_USAGE, "usage.argument", onnxar_unpack(ABI, "second.onnx", "fourth.onnx", &options, NULL, &error));
  REFUSED(ONNXAR_USAGE, "usage.argument", onnxar_check(ABI, "family.onnxar", &options, &report, &error));
  CHECK(!is_there("fourth.onnx"));
}

static void check_adding(void) {
  const File a = read_file("a.bin"), b = read_file("b.bin"), model = read_file("model.bin");
  onnxar_writer* writer = NULL;
  onnxar_archive* archive;
  onnxar_entry entry;
  CHECK(onnxar_create(ABI, "added.onnxar", NULL, &writer, NULL) == ONNXAR_OK);
  CHECK(onnxar_add(writer, "a", 1, a.data, a.size, NULL) == ONNXAR_OK);
  CHECK(onnxar_add(writer, "b", 1, b.data, b.size, NULL) == ONNXAR_OK);
  NULL_REFUSED(onnxar_add_graph(NULL, "second", 6, model.data, model.size, &error));
  NULL_REFUSED(onnxar_add_graph(writer, NULL, 6, model.data, model.size, &error));
  NULL_REFUSED(onnxar_add_graph(writer, "second", 6, NULL, model.size, &error));
  CHECK(onnxar_add_graph(writer, "second and more", 6, model.data, model.size, NULL) == ONNXAR_OK);
  CHECK(onnxar_finish(writer, model.data, model.size, NULL) == ONNXAR_OK);
  onnxar_writer_free(writer);
  archive = opened("added.onnxar", NULL);
  CHECK(onnxar_next_graph(archive, 0, &entry, NULL) == ONNXAR_OK && is_named(&entry, "second.onnx"));
  onnxar_close(archive);
  free(a.data);
  free(b.data);
  free(model.data);
}

void check_graphs(void) {
  onnxar_archive* family;
  check_packing();
  family = opened("family.onnxar", NULL);
  check_listing(family);
  check_opening(family);
  check_verbs_of_a_graph();
  check_adding();
}
#else
typedef int nothing_to_check; /* C99 has no empty files */
#endif
