/* From C: writes an archive of two weights and a model that adds them, then opens it and prints its tensors.
 *
 *   write_and_read ARCHIVE
 *
 * A program with ONNX's messages from a protobuf library for C would take the model from it. Here a few lines encode
 * the fields that are needed. */
#include <inttypes.h>
#include <onnxar/onnxar_c.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { elements = 1024, bytes_of_weight = elements * 4 };

/* --- errors ------------------------------------------------------------------------------------------------------- */

/* Ends the program after an error. */
static void require(onnxar_status status, onnxar_error* error) {
  if (status == ONNXAR_OK) return;
  fprintf(stderr, "write_and_read: %s\n", onnxar_error_line(error));
  onnxar_error_free(error);
  exit(1);
}

/* --- a ModelProto by hand ----------------------------------------------------------------------------------------- */

/* A serialised message. Its size is enough for this model; append aborts beyond it. */
typedef struct Message {
  unsigned char data[1024];
  size_t size;
} Message;

static void append(Message* message, const void* data, size_t size) {
  if (size > sizeof message->data - message->size) abort();
  memcpy(message->data + message->size, data, size);
  message->size += size;
}

static void append_varint(Message* message, uint64_t value) {
  unsigned char byte;
  for (; value >= 0x80; value >>= 7) {
    byte = (unsigned char)(value | 0x80);
    append(message, &byte, 1);
  }
  byte = (unsigned char)value;
  append(message, &byte, 1);
}

static void number(Message* message, uint32_t field, uint64_t value) {
  append_varint(message, field << 3);
  append_varint(message, value);
}

static void block(Message* message, uint32_t field, const void* data, size_t size) {
  append_varint(message, field << 3 | 2);
  append_varint(message, size);
  append(message, data, size);
}

static void text(Message* message, uint32_t field, const char* value) { block(message, field, value, strlen(value)); }

static void external_pair(Message* tensor, const char* key, const char* value) {
  Message pair = {{0}, 0};
  text(&pair, 1, key);
  text(&pair, 2, value);
  block(tensor, 13, pair.data, pair.size);
}

/* A TensorProto whose data is an entry: dims, data_type, name, external_data, data_location. Some readers take the
 * pairs of external_data by position, so all three are written, in this order. */
static void linked_tensor(Message* graph, const char* name, const char* key) {
  Message tensor = {{0}, 0};
  char length[32];
  snprintf(length, sizeof length, "%d", bytes_of_weight);
  number(&tensor, 1, elements);
  number(&tensor, 2, 1); /* FLOAT */
  text(&tensor, 8, name);
  external_pair(&tensor, "location", key);
  external_pair(&tensor, "offset", "0");
  external_pair(&tensor, "length", length);
  number(&tensor, 14, 1); /* EXTERNAL */
  block(graph, 5, tensor.data, tensor.size);
}

/* A ValueInfoProto of the output: a row of floats. */
static void output(Message* graph, const char* name) {
  Message dim = {{0}, 0}, shape = {{0}, 0}, type = {{0}, 0}, any = {{0}, 0}, value = {{0}, 0};
  number(&dim, 1, elements);
  block(&shape, 1, dim.data, dim.size);
  number(&type, 1, 1);
  block(&type, 2, shape.data, shape.size);
  block(&any, 1, type.data, type.size);
  text(&value, 1, name);
  block(&value, 2, any.data, any.size);
  block(graph, 12, value.data, value.size);
}

static void model_of(Message* model, const char* const names[2], const char* const keys[2]) {
  Message node = {{0}, 0}, graph = {{0}, 0}, opset = {{0}, 0};
  text(&node, 1, names[0]);
  text(&node, 1, names[1]);
  text(&node, 2, "sum");
  text(&node, 4, "Add");
  block(&graph, 1, node.data, node.size);
  text(&graph, 2, "sum_of_two");
  linked_tensor(&graph, names[0], keys[0]);
  linked_tensor(&graph, names[1], keys[1]);
  output(&graph, "sum");
  number(model, 1, 8); /* ir_version */
  text(model, 2, "write_and_read");
  block(model, 7, graph.data, graph.size);
  number(&opset, 2, 17);
  block(model, 8, opset.data, opset.size);
}

/* --- writing ------------------------------------------------------------------------------------------------------ */

/* Makes the elements of a weight on demand, so that memory stays bounded for any size. */
typedef struct Weight {
  float next;
  float step;
} Weight;

/* A number of a tensor is little-endian on every host. */
static void put_float(float value, unsigned char* target) {
  uint32_t bits;
  unsigned i;
  memcpy(&bits, &value, sizeof bits);
  for (i = 0; i < 4; ++i) target[i] = (unsigned char)(bits >> (8 * i) & 0xff);
}

static float float_at(const unsigned char* bytes) {
  uint32_t bits = 0;
  float value;
  unsigned i;
  for (i = 0; i < 4; ++i) bits |= (uint32_t)bytes[i] << (8 * i);
  memcpy(&value, &bits, sizeof value);
  return value;
}

static size_t read_weight(void* context, void* buffer, size_t size) {
  Weight* weight = context;
  const size_t count = size / sizeof weight->next;
  size_t i;
  for (i = 0; i < count; ++i, weight->next += weight->step) {
    put_float(weight->next, (unsigned char*)buffer + i * sizeof weight->next);
  }
  return count * sizeof weight->next;
}

static void write_archive(const char* path) {
  const char* const names[2] = {"layer.0.weight", "layer.1.weight"};
  const char* made[2] = {NULL, NULL}; /* entry names: C identifiers, which names of tensors need not be */
  Weight weights[2] = {{0, 1}, {100, -1}};
  Message model = {{0}, 0};
  onnxar_writer_options options = {0};
  onnxar_writer* writer = NULL;
  onnxar_keys* keys = NULL;
  onnxar_error* error = NULL;
  int i;

  options.struct_size = sizeof options;
  options.overwrite = 1;
  require(onnxar_create(ONNXAR_C_ABI, path, &options, &writer, &error), error);
  require(onnxar_keys_create(ONNXAR_C_ABI, &keys, &error), error);
  for (i = 0; i < 2; ++i) {
    require(onnxar_make_key(keys, names[i], ONNXAR_TERMINATED, &made[i], &error), error);
    require(onnxar_add_stream(writer, made[i], ONNXAR_TERMINATED, bytes_of_weight, read_weight, &weights[i], &error),
            error);
  }
  model_of(&model, names, made);
  require(onnxar_finish(writer, model.data, model.size, &error), error);
  onnxar_keys_free(keys);
  onnxar_writer_free(writer);
}

/* --- reading ------------------------------------------------------------------------------------------------------ */

static void print_tensor(onnxar_tensors* tensors, uint64_t index) {
  onnxar_tensor tensor;
  onnxar_bytes bytes;
  onnxar_error* error = NULL;
  float first = 0;
  require(onnxar_get_tensor(tensors, index, &tensor, &error), error);
  require(onnxar_get_tensor_bytes(tensors, index, &bytes, &error), error);
  if (bytes.size >= sizeof first) first = float_at(bytes.data);
  printf("%.*s: %" PRIu64 " bytes, begins with %g\n", (int)tensor.name_length, tensor.name, (uint64_t)bytes.size,
         first);
}

static void read_archive(const char* path) {
  onnxar_archive* archive = NULL;
  onnxar_tensors* tensors = NULL;
  onnxar_error* error = NULL;
  uint64_t i;
  require(onnxar_open_path(ONNXAR_C_ABI, path, NULL, &archive, &error), error);
  require(onnxar_get_tensors(archive, &tensors, &error), error);
  for (i = 0; i < onnxar_tensor_count(tensors); ++i) print_tensor(tensors, i);
  onnxar_tensors_free(tensors);
  onnxar_close(archive);
}

int main(int argc, char** argv) {
  if (argc != 2) {
    fprintf(stderr, "usage: write_and_read ARCHIVE\n");
    return 2;
  }
  write_archive(argv[1]);
  read_archive(argv[1]);
  return 0;
}
