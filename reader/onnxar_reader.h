/* onnxar_reader: reads ONNX archives, in two files of C99 that need the C library alone.
 *
 * Copyright 2026 The onnxar authors. Licence: Apache-2.0, http://www.apache.org/licenses/LICENSE-2.0
 * SPDX-License-Identifier: Apache-2.0
 *
 * An ONNX archive is a zip file that holds an ONNX model and its weights, each stored uncompressed at a multiple of 64
 * bytes. This reader opens one, proves what the format demands (onnx-archive.md and checking.md of the specification,
 * version 1.0), walks through the model without protobuf, and gives each weight in place.
 *
 * Copy onnxar_reader.h and onnxar_reader.c into your tree and compile the second by itself: `cc -c onnxar_reader.c`.
 * It also compiles as C++11. A complete program, which lists the tensors of an archive:
 *
 *   #include <stdio.h>
 *   #include "onnxar_reader.h"
 *
 *   int main(int argc, char **argv) {
 *     onnxar_reader *archive = NULL;
 *     onnxar_reader_walk *walk = NULL;
 *     onnxar_reader_tensor tensor;
 *     onnxar_reader_error error;
 *     char line[OAR_MESSAGE_SIZE];
 *     int more = -1;
 *     if (argc == 2 && onnxar_reader_open(argv[1], NULL, &archive, &error) == 0 &&
 *         onnxar_reader_walk_open(archive, onnxar_reader_model(archive), &walk, &error) == 0) {
 *       while ((more = onnxar_reader_walk_next(walk, &tensor, &error)) > 0) {
 *         printf("%.*s: type %d, %llu bytes at %p\n", (int)tensor.name_length, tensor.name, (int)tensor.data_type,
 *                (unsigned long long)tensor.size, tensor.data);
 *       }
 *     }
 *     if (argc == 2 && more < 0) puts(onnxar_reader_message(&error, line, sizeof line));
 *     onnxar_reader_walk_close(walk);
 *     onnxar_reader_close(archive);
 *     return more == 0 ? 0 : 1;
 *   }
 *
 * Results. A function that can fail returns 0, or -1 and fills `error`, which may be NULL. It then has given nothing
 * and keeps nothing. Functions that close take NULL.
 *
 * Memory. The reader allocates, for each entry, less than the entry has in the directory; in an archive that is read by
 * callbacks also the directory, and the model while it is walked. A number from a file never sizes an allocation before
 * it was compared with the file's length and with the limits. A pointer that is given is valid until the archive is
 * closed (or the walk, where this is said). The archive has to outlive its walks.
 *
 * Threads. There is no global state. All functions with a `const onnxar_reader *` may be called by many threads at
 * once, provided that the callbacks, if there are any, may. A walk is used by one thread at a time.
 *
 * Trust. Whatever the bytes are, a call reads no byte out of bounds and does work in proportion to the file, or to
 * n log n for n names. Stage open of the specification is done by opening, stage use of an entry before its bytes are
 * given, and M8 to M21 of a tensor before the tensor is. CRC-32s are compared on demand, as that reads all bytes. What
 * is proved once is not proved again: a mapped file that another process changes is not seen to change, and one that it
 * shortens faults on access. Replace archives by renaming.
 *
 * Define when compiling onnxar_reader.c:
 *   OAR_NO_MMAP   onnxar_reader_open reads the file into memory, and does not map it
 *   OAR_NO_STDIO  there is no onnxar_reader_open: archives come from memory and callbacks
 *   OAR_API       what precedes each function, such as __declspec(dllexport) or static
 */
#ifndef ONNXAR_READER_H
#define ONNXAR_READER_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#ifndef OAR_API
#define OAR_API
#endif

#define OAR_NO_OFFSET UINT64_MAX /* an error that has no place in the file */
#define OAR_NOT_FOUND SIZE_MAX   /* instead of the index of an entry */
#define OAR_MESSAGE_SIZE 1400    /* room for the longest line of onnxar_reader_message */

/* --- Errors ------------------------------------------------------------------------------------------------------- */

/* Why a call failed. `code` is the stable id of the specification, such as "zip.entry.overlap". The others:
 * `io.failed`, `io.not_found`, `io.permission`, `io.not_a_file`, `io.address_space` (a file that is too large for 32
 * bits), `no_memory`, `usage.argument` and `usage.no_such_entry`. All strings are constants. */
typedef struct onnxar_reader_error {
  const char* code;
  const char* rule;     /* the rule of the specification that the file breaks, such as "P3"; or "" */
  const char* sentence; /* what is wrong */
  uint64_t offset;      /* in the file, as checking.md has it; or OAR_NO_OFFSET */
  size_t entry_length;  /* of the entry's name; 0 if no entry is to blame */
  char entry[1025];     /* its first 1024 bytes, unchecked: it may hold any byte */
} onnxar_reader_error;

/* Writes `zip.entry.overlap: entry "a" at 64: the entry overlaps the next (P3)` into the buffer, with escapes for bytes
 * that could harm a terminal, cut if there is no room, and with a zero at its end. Returns the buffer. */
OAR_API const char* onnxar_reader_message(const onnxar_reader_error* error, char* buffer, size_t size);

/* --- Opening ------------------------------------------------------------------------------------------------------ */

typedef struct onnxar_reader onnxar_reader;

/* Set all members to 0, which stands for the default, and then those that you need. Archives beyond a limit are refused
 * (zip.limit.entries, zip.limit.directory, archive.model.too_large). */
typedef struct onnxar_reader_options {
  uint64_t max_entries;   /* 2^20 by default */
  uint64_t max_directory; /* bytes of the central directory; 256 MiB by default */
  uint64_t max_model;     /* bytes of __MODEL_PROTO; 2^31 - 1 by default, which is also the most */
  /* Memory for everything that is allocated; both or neither. Both have to be safe in threads if calls come from many,
   * as reading by callbacks, walking and checking allocate. */
  void* (*allocate)(void* context, size_t size); /* aligned as by malloc; NULL if there is none */
  void (*release)(void* context, void* block);   /* never called with NULL */
  void* allocator_context;
} onnxar_reader_options;

/* An archive that is read by ranges. `read` copies `length` bytes from `offset` and returns 0, or another number if it
 * cannot (io.failed). It is only asked for ranges within `size`, one after another, and never for no bytes. */
typedef struct onnxar_reader_source {
  uint64_t size; /* of the archive */
  int (*read)(void* context, uint64_t offset, size_t length, void* buffer);
  void* context;
} onnxar_reader_source;

/* Maps a file and proves stage open. On Windows `path` is UTF-8. `options` may be NULL. */
OAR_API int onnxar_reader_open(const char* path, const onnxar_reader_options* options, onnxar_reader** archive,
                               onnxar_reader_error* error);

/* The same of bytes that stay as they are until the archive is closed. If the memory begins at a multiple of 64 (for
 * alignments above, of 4096), so does each weight in it. */
OAR_API int onnxar_reader_open_memory(const void* data, size_t size, const onnxar_reader_options* options,
                                      onnxar_reader** archive, onnxar_reader_error* error);

/* The same of a source, which is copied. Opening reads the end of the file, then the directory, and local headers only
 * where the specification demands it (P5): two reads of an archive that a usual writer made. */
OAR_API int onnxar_reader_open_source(const onnxar_reader_source* source, const onnxar_reader_options* options,
                                      onnxar_reader** archive, onnxar_reader_error* error);

OAR_API void onnxar_reader_close(onnxar_reader* archive);

/* --- Entries ------------------------------------------------------------------------------------------------------ */

typedef struct onnxar_reader_entry {
  const char* name; /* printable ASCII, unique, not terminated; never a path to be opened */
  size_t name_length;
  uint64_t size;
  uint32_t crc32;
} onnxar_reader_entry;

/* At least 1. Entries have the indices from 0 on, in the order of the file; __MODEL_PROTO is the last. */
OAR_API size_t onnxar_reader_count(const onnxar_reader* archive);
OAR_API int onnxar_reader_get_entry(const onnxar_reader* archive, size_t index, onnxar_reader_entry* entry,
                                    onnxar_reader_error* error);

/* The index of the entry with exactly this name, or OAR_NOT_FOUND. Cost: O(name), and O(log n) comparisons for names
 * that were made to collide. */
OAR_API size_t onnxar_reader_find(const onnxar_reader* archive, const char* name, size_t length);

/* The index of __MODEL_PROTO. */
OAR_API size_t onnxar_reader_model(const onnxar_reader* archive);
/* The index of a further model over the same weights (graphs.md), such as the entry `decoder.onnx` for "decoder". */
OAR_API size_t onnxar_reader_find_graph(const onnxar_reader* archive, const char* name, size_t length);
/* Whether an entry is such a model. */
OAR_API int onnxar_reader_is_graph(const onnxar_reader* archive, size_t index);

/* Bytes of an entry. */
typedef struct onnxar_reader_range {
  const void* data; /* in place; NULL if the archive is read by callbacks */
  uint64_t offset;  /* in the file */
  uint64_t size;
} onnxar_reader_range;

/* The whole data of an entry, after stage use: a model for a protobuf parser, say, or a tokenizer. */
OAR_API int onnxar_reader_get_data(const onnxar_reader* archive, size_t index, onnxar_reader_range* range,
                                   onnxar_reader_error* error);

/* What `external_data` of a tensor refers to, for programs that parse the model with protobuf: the entry `location`,
 * from `offset` on, `length` bytes, or all that follow if it is NULL. Such programs compare `length` with type and
 * dimensions (M17, M18). Codes: onnx.external_data.no_location, .missing, .out_of_range, and those of stage use. */
OAR_API int onnxar_reader_resolve(const onnxar_reader* archive, const char* location, size_t location_length,
                                  uint64_t offset, const uint64_t* length, onnxar_reader_range* range,
                                  onnxar_reader_error* error);

/* Copies bytes of a range that was given, from its byte `begin` on. Works for each kind of archive. */
OAR_API int onnxar_reader_copy(const onnxar_reader* archive, const onnxar_reader_range* range, uint64_t begin,
                               size_t length, void* buffer, onnxar_reader_error* error);

/* Compares the CRC-32 of an entry (zip.data.crc), in 32 KiB of memory at most. */
OAR_API int onnxar_reader_verify(const onnxar_reader* archive, size_t index, onnxar_reader_error* error);

/* Stage check, for archives that come from others: each local header, each superseded state, each tensor of the model
 * and of each graph. The first breach is the error. OAR_CHECK_DATA adds stage check data: each CRC-32, and SHA-1s that
 * tensors state. */
#define OAR_CHECK_DATA 1u
OAR_API int onnxar_reader_check(const onnxar_reader* archive, unsigned flags, onnxar_reader_error* error);

/* --- Tensors ------------------------------------------------------------------------------------------------------ */

/* Where a tensor is in the model. */
enum {
  OAR_INITIALIZER,      /* of a graph, a subgraph or a graph in a function */
  OAR_ATTRIBUTE,        /* `t` or `tensors` of an attribute */
  OAR_SPARSE_VALUES,    /* of a sparse initializer or attribute; its name is the sparse tensor's */
  OAR_SPARSE_INDICES,   /* of the same */
  OAR_FUNCTION_DEFAULT, /* anything beneath `attribute_proto` of a function, except sparse indices */
  OAR_TRAINING          /* anything beneath `training_info`, except sparse indices */
};

/* Where its values are. */
enum {
  OAR_NO_DATA, /* nowhere: it has no elements, or is filled in later */
  OAR_INLINE,  /* `raw_data` of the message */
  OAR_LINKED,  /* an entry */
  OAR_TYPED    /* `field`: see onnxar_reader_values_begin */
};

typedef struct onnxar_reader_tensor {
  const char* name; /* any bytes, not terminated; this and `dims` are valid until the next call of the walk */
  size_t name_length;
  int site;
  int32_t data_type;   /* TensorProto.DataType, never 0 */
  size_t rank;         /* at most 1024 */
  const int64_t* dims; /* none is negative */
  uint64_t elements;   /* their product; UINT64_MAX if it is larger (only of STRING and unknown types) */
  int kind;
  size_t entry; /* OAR_LINKED: its index; else OAR_NOT_FOUND */
  /* OAR_INLINE and OAR_LINKED: `size` little-endian bytes as `raw_data` has them, at least those that type and
   * dimensions need. `data` is NULL for a linked tensor of an archive that is read by callbacks; there, data in the
   * model is valid until the walk is closed. Data in an entry is aligned as the link's offset is, data in the model is
   * not. `offset` is the place in the file, for onnxar_reader_copy. */
  const void* data;
  uint64_t offset;
  uint64_t size;
  int field; /* OAR_TYPED: float_data 4, int32_data 5, string_data 6, int64_data 7, double_data 10, uint64_data 11 */
  uint64_t values;     /* OAR_TYPED: how many are in it */
  const void* message; /* the serialised TensorProto, for members that are not here; valid as data in the model */
  size_t message_size;
} onnxar_reader_tensor;

typedef struct onnxar_reader_walk onnxar_reader_walk;

/* Begins a walk through a model: entry `index` is onnxar_reader_model, or a graph. Of an archive that is read by
 * callbacks it reads the model into memory. */
OAR_API int onnxar_reader_walk_open(const onnxar_reader* archive, size_t index, onnxar_reader_walk** walk,
                                    onnxar_reader_error* error);
OAR_API void onnxar_reader_walk_close(onnxar_reader_walk* walk);

/* The next tensor in the order of the bytes: initializers, sparse tensors, attributes, subgraphs, functions, training
 * info. 1: a tensor, whose rules are proved; 0: the model ended; -1: an error, also at each further call. */
OAR_API int onnxar_reader_walk_next(onnxar_reader_walk* walk, onnxar_reader_tensor* tensor, onnxar_reader_error* error);

/* Writes where the last tensor is, in names of fields: `graph.node[3].attribute[0].t`. Cut if there is no room, with a
 * zero at its end. Returns the length that it has in full. */
OAR_API size_t onnxar_reader_walk_site(const onnxar_reader_walk* walk, char* buffer, size_t size);

/* The serialised ModelProto; valid until the walk is closed. */
OAR_API const void* onnxar_reader_walk_model(const onnxar_reader_walk* walk, size_t* size);

/* --- Values and fields -------------------------------------------------------------------------------------------- */

/* A value of a typed field. What holds depends on the field: `real` float_data and double_data; `integer` int32_data
 * and int64_data; `whole` uint64_data; `text` string_data. Elements narrower than 32 bits are in the low bits of
 * int32_data, a float16 as its 16 bits, and elements of 4 or 2 bits two or four to a value. Complex numbers take two
 * values. */
typedef struct onnxar_reader_value {
  double real;
  int64_t integer;
  uint64_t whole;
  const char* text;
  size_t text_length;
} onnxar_reader_value;

/* A place among the values of a tensor; the members are private. */
typedef struct onnxar_reader_values {
  const unsigned char *at, *end, *run_end;
  int field;
} onnxar_reader_values;

/* The values of an OAR_TYPED tensor, one after another, while its message is valid. `next` returns 1, or 0 at the end.
 */
OAR_API void onnxar_reader_values_begin(const onnxar_reader_tensor* tensor, onnxar_reader_values* values);
OAR_API int onnxar_reader_values_next(onnxar_reader_values* values, onnxar_reader_value* value);

/* A field of any serialised message: for programs without protobuf that read nodes, inputs and outputs. */
typedef struct onnxar_reader_field {
  uint32_t number;
  uint32_t wire_type; /* 0: `value` is a varint; 1 and 5: a fixed number of 8 or 4 bytes; 2: `data` and `length` */
  uint64_t value;     /* the number; for wire type 2 the same as `length` */
  const unsigned char* data; /* where the value is in the message */
  size_t length;
} onnxar_reader_field;

/* Takes the next field from a message, and moves *message and *size past it. 1: a field; 0: the end; -1: the bytes are
 * not a message. */
OAR_API int onnxar_reader_next_field(const void** message, size_t* size, onnxar_reader_field* field);

#ifdef __cplusplus
}
#endif

#endif /* ONNXAR_READER_H */
