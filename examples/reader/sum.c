/* sum ARCHIVE NAME: adds up the elements of a FLOAT tensor, in place. The data of an archive is little-endian, as this
 * program takes the machine to be. It is linked to reader/onnxar_reader.c alone. */
#include <stdio.h>
#include <string.h>

#include "onnxar_reader.h"

static double sum_of(const float* values, uint64_t count) {
  double sum = 0;
  for (uint64_t i = 0; i < count; ++i) sum += (double)values[i];
  return sum;
}

int main(int argc, char** argv) {
  onnxar_reader* archive = NULL;
  onnxar_reader_walk* walk = NULL;
  onnxar_reader_tensor tensor;
  onnxar_reader_error error;
  char line[OAR_MESSAGE_SIZE];
  int more = -1, found = 0;
  if (argc != 3) {
    fputs("usage: sum ARCHIVE NAME\n", stderr);
    return 2;
  }
  if (onnxar_reader_open(argv[1], NULL, &archive, &error) == 0 &&
      onnxar_reader_walk_open(archive, onnxar_reader_model(archive), &walk, &error) == 0) {
    while (!found && (more = onnxar_reader_walk_next(walk, &tensor, &error)) > 0) {
      found = tensor.name_length == strlen(argv[2]) && memcmp(tensor.name, argv[2], tensor.name_length) == 0;
    }
  }
  if (more < 0) fprintf(stderr, "sum: %s\n", onnxar_reader_message(&error, line, sizeof line));
  /* A whole entry begins at a multiple of 64. A slice of one, and data in the model, may begin anywhere. */
  found = found && tensor.data_type == 1 && tensor.kind == OAR_LINKED && (uintptr_t)tensor.data % sizeof(float) == 0;
  if (found) printf("%g\n", sum_of((const float*)tensor.data, tensor.elements));
  if (more >= 0 && !found) fputs("sum: no linked, aligned tensor of FLOATs has this name\n", stderr);
  onnxar_reader_walk_close(walk);
  onnxar_reader_close(archive);
  return found ? 0 : 1;
}
