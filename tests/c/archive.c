/* Tests of tensors and digests of an archive, of reading entries into memory, and of finding tensors by name. The
 * working directory is the folder that program.c describes. */
#define _POSIX_C_SOURCE 200809L

#include "checking.h"

#ifdef ONNXAR_HAVE_TENSORS
void check_tensors(void) {
  const File a = read_file("a.bin");
  onnxar_archive* archive = opened("a.onnxar", NULL);
  onnxar_tensors* tensors = NULL;
  onnxar_tensor tensor;
  onnxar_bytes bytes;
  onnxar_error* error = NULL;

  CHECK(onnxar_get_tensors(archive, &tensors, &error) == ONNXAR_OK && error == NULL);
  CHECK(onnxar_tensor_count(tensors) == 2);
  CHECK(onnxar_get_tensor(tensors, 0, &tensor, NULL) == ONNXAR_OK);
  CHECK(tensor.name_length == 1 && tensor.name[0] == 'a' && tensor.data_type == 1 && tensor.reserved == 0);
  CHECK(tensor.dims_count == 1 && (size_t)tensor.dims[0] * 4 == a.size);
  CHECK(tensor.site_length == strlen("graph.initializer[0]"));
  CHECK(memcmp(tensor.site, "graph.initializer[0]", tensor.site_length) == 0);
  CHECK(onnxar_get_tensor_bytes(tensors, 0, &bytes, NULL) == ONNXAR_OK);
  CHECK(same(bytes, a));
  REFUSED(ONNXAR_USAGE, "usage.no_such_tensor", onnxar_get_tensor(tensors, 2, &tensor, &error));
  REFUSED(ONNXAR_USAGE, "usage.no_such_tensor", onnxar_get_tensor_bytes(tensors, UINT64_MAX, &bytes, &error));
  NULL_REFUSED(onnxar_get_tensors(NULL, &tensors, &error));
  NULL_REFUSED(onnxar_get_tensors(archive, NULL, &error));
  NULL_REFUSED(onnxar_get_tensor(NULL, 0, &tensor, &error));
  NULL_REFUSED(onnxar_get_tensor(tensors, 0, NULL, &error));
  NULL_REFUSED(onnxar_get_tensor_bytes(NULL, 0, &bytes, &error));
  NULL_REFUSED(onnxar_get_tensor_bytes(tensors, 0, NULL, &error));
  CHECK(onnxar_tensor_count(NULL) == 0);
  onnxar_tensors_free(NULL);
  onnxar_close(archive); /* the list keeps the archive */
  CHECK(same(bytes, a));
  CHECK(onnxar_get_tensor_bytes(tensors, 1, &bytes, NULL) == ONNXAR_OK);
  REFUSED(ONNXAR_USAGE, "usage.no_such_tensor", onnxar_get_tensor(tensors, 2, &tensor, &error));
  onnxar_tensors_free(tensors);
  free(a.data);
}
#endif

#ifdef ONNXAR_HAVE_DIGEST
/* The digests were computed by hashlib of Python. */
void check_digest(void) {
  const char* manifest =
      "1e789e1f9d6762feb2141fbbe62af02638b10504ccebcca351cd667ec0fdbff6  __MODEL_PROTO\n"
      "96ced9a9a685edaaf0b7a850c45e6ef5364ff2aba28941752adef180b44683b2  a\n"
      "d8b38ccb528469fdf41c05ebdc160317c820c65caf1b3f82d96741b1e5a6faa6  b\n";
  onnxar_archive* archive = opened("a.onnxar", NULL);
  onnxar_archive* broken = opened("broken.onnxar", NULL);
  onnxar_digest *one = NULL, *other = NULL;
  onnxar_error* error = NULL;

  CHECK(onnxar_get_digest(archive, 0, &one, &error) == ONNXAR_OK && error == NULL);
  CHECK(onnxar_get_digest(archive, 2, &other, NULL) == ONNXAR_OK);
  onnxar_close(archive); /* a digest does not need it any more */
  CHECK(strcmp(onnxar_digest_manifest(one), manifest) == 0);
  CHECK(strcmp(onnxar_digest_hex(one), "e945a7f64dc2a2fddef66e33b4b64d8bd35bdf90c91adcbf95e9537db6538839") == 0);
  CHECK(strcmp(onnxar_digest_hex(one), onnxar_digest_hex(other)) == 0);
  onnxar_digest_free(one);
  onnxar_digest_free(other);
  REFUSED(ONNXAR_FORMAT, "zip.local.field", onnxar_get_digest(broken, 1, &one, &error));
  NULL_REFUSED(onnxar_get_digest(NULL, 0, &one, &error));
  NULL_REFUSED(onnxar_get_digest(broken, 0, NULL, &error));
  CHECK(onnxar_digest_hex(NULL)[0] == '\0' && onnxar_digest_manifest(NULL)[0] == '\0');
  onnxar_digest_free(NULL);
  onnxar_close(broken);
}
#endif

#ifdef ONNXAR_HAVE_WRITING
static void check_is_archive(void) {
  int is_archive = -1;
  CHECK(onnxar_is_archive(ONNXAR_C_ABI, "a.onnxar", &is_archive, NULL) == ONNXAR_OK && is_archive == 1);
  CHECK(onnxar_is_archive(ONNXAR_C_ABI, "plain.zip", &is_archive, NULL) == ONNXAR_OK && is_archive == 0);
  CHECK(onnxar_is_archive(ONNXAR_C_ABI, "a.bin", &is_archive, NULL) == ONNXAR_OK && is_archive == 0);
  is_archive = -1;
  REFUSED(ONNXAR_IO, "io.not_found", onnxar_is_archive(ONNXAR_C_ABI, "none", &is_archive, &error));
  NULL_REFUSED(onnxar_is_archive(ONNXAR_C_ABI, NULL, &is_archive, &error));
  NULL_REFUSED(onnxar_is_archive(ONNXAR_C_ABI, "a.onnxar", NULL, &error));
  REFUSED(ONNXAR_USAGE, "usage.argument", onnxar_is_archive(ONNXAR_C_ABI + 1, "a.onnxar", &is_archive, &error));
  CHECK(is_archive == -1);
}

void check_reading_entries(void) {
  const File b = read_file("b.bin");
  char* buffer = malloc(b.size);
  onnxar_archive* archive = opened("a.onnxar", NULL);

  CHECK(onnxar_read_entry(archive, 1, buffer, b.size, NULL) == ONNXAR_OK);
  CHECK(memcmp(buffer, b.data, b.size) == 0);
  REFUSED(ONNXAR_USAGE, "usage.argument", onnxar_read_entry(archive, 1, buffer, b.size - 1, &error));
  REFUSED(ONNXAR_USAGE, "usage.no_such_entry", onnxar_read_entry(archive, 3, buffer, b.size, &error));
  NULL_REFUSED(onnxar_read_entry(archive, 1, NULL, b.size, &error));
  NULL_REFUSED(onnxar_read_entry(NULL, 1, buffer, b.size, &error));
  onnxar_close(archive);

  archive = opened("broken.onnxar", NULL);
  REFUSED(ONNXAR_FORMAT, "zip.data.crc", onnxar_read_entry(archive, 1, buffer, b.size, &error));
  REFUSED(ONNXAR_FORMAT, "zip.local.field", onnxar_read_entry(archive, 0, buffer, b.size, &error));
  onnxar_close(archive);
  free(buffer);
  free(b.data);
  check_is_archive();
}

void check_lookup(void) {
  onnxar_archive* archive = opened("a.onnxar", NULL);
  onnxar_tensors* tensors = NULL;
  onnxar_error* error = NULL;
  uint64_t index = 7;

  CHECK(onnxar_get_tensors(archive, &tensors, NULL) == ONNXAR_OK);
  CHECK(onnxar_lookup(tensors, "b", ONNXAR_TERMINATED, &index, NULL) == ONNXAR_OK && index == 1);
  CHECK(onnxar_lookup(tensors, "a and more", 1, &index, NULL) == ONNXAR_OK && index == 0);
  CHECK(onnxar_lookup(tensors, "c", 1, &index, &error) == ONNXAR_USAGE);
  CHECK(strcmp(onnxar_error_code(error), "usage.no_such_tensor") == 0);
  CHECK(strstr(onnxar_error_message(error), "near names: \"a\"") != NULL);
  onnxar_error_free(error);
  NULL_REFUSED(onnxar_lookup(NULL, "b", 1, &index, &error));
  NULL_REFUSED(onnxar_lookup(tensors, NULL, 1, &index, &error));
  NULL_REFUSED(onnxar_lookup(tensors, "b", 1, NULL, &error));
  CHECK(index == 0);
  index = 7;
  onnxar_tensors_free(tensors);
  onnxar_close(archive);

  archive = opened("twice.onnxar", NULL);
  CHECK(onnxar_get_tensors(archive, &tensors, NULL) == ONNXAR_OK);
  REFUSED(ONNXAR_USAGE, "usage.ambiguous_tensor", onnxar_lookup(tensors, "a", 1, &index, &error));
  CHECK(index == 7);
  onnxar_tensors_free(tensors);
  onnxar_close(archive);
}
#endif
