/* Maps an archive and prints the size of its entry "w". */
#include <onnxar/onnxar_c.h>
#include <stdio.h>

int main(int argc, char** argv) {
  onnxar_archive* archive = NULL;
  onnxar_error* error = NULL;
  onnxar_bytes bytes = {NULL, 0};
  if (argc != 2) return 2;
  if (onnxar_open_path(ONNXAR_C_ABI, argv[1], NULL, &archive, &error) != ONNXAR_OK ||
      onnxar_resolve(archive, "w", ONNXAR_TERMINATED, 0, ONNXAR_TO_END, &bytes, &error) != ONNXAR_OK) {
    fprintf(stderr, "%s\n", onnxar_error_line(error));
    onnxar_error_free(error);
    onnxar_close(archive);
    return 1;
  }
  printf("onnxar %s from C: %lu bytes\n", onnxar_version(), (unsigned long)bytes.size);
  onnxar_close(archive);
  return bytes.size == 2048 ? 0 : 1;
}
