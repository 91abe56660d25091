/* onnxar_reader: reads ONNX archives, in two files of C99 that need only the C library.
 *
 * Copyright 2026 The onnxar authors. SPDX-License-Identifier: Apache-2.0
 *
 * An ONNX archive is a zip file that holds an ONNX model and its weights, each stored uncompressed at a multiple of 64
 * bytes. This reader opens one, checks the rules of the format (onnx-archive.md and checking.md of the specification,
 * version 1.0), walks through the model without protobuf, and finds each weight in place. Copy onnxar_reader.h and
 * onnxar_reader.c into your tree, and compile the second by itself: `cc -c onnxar_reader.c`, or as C++11 or later. A
 * complete program, which lists the tensors of an archive:
 *
 *   #include <stdio.h>
 *   #include "onnxar_reader.h"
 *
 *   int main(int argc, char** argv) {
 *     onnxar_reader* archive = NULL;
 *     onnxar_reader_walk* walk = NULL;
 *     onnxar_reader_tensor tensor;
 *     onnxar_reader_error error;
 *     char line[OAR_MESSAGE_SIZE];
 *     int more = -1;
 *     if (argc != 2) return 2;
 *     if (onnxar_reader_open(argv[1], NULL, &archive, &error) == 0 &&
 *         onnxar_reader_walk_open(archive, onnxar_reader_model(archive), &walk, &error) == 0) {
 *       while ((more = onnxar_reader_walk_next(walk, &tensor, &error)) > 0) {
 *         printf("%.*s: type %d, %llu bytes at %p\n", (int)tensor.name_length, tensor.name, (int)tensor.data_type,
 *                (unsigned long long)tensor.size, tensor.data);
 *       }
 *     }
 *     if (more < 0) puts(onnxar_reader_message(&error, line, sizeof line));
 *     onnxar_reader_walk_close(walk);
 *     onnxar_reader_close(archive);
 *     return more == 0 ? 0 : 1;
 *   }
 *
 * - Results: a function that can fail returns 0, or -1 and fills `error` (may be NULL). Close functions accept NULL.
 * - Memory: the reader allocates about twice the size of the directory; while it checks the directory, also the size of
 * the directories of superseded states; with callbacks, also the model during a walk. It compares numbers from a file
 * with the file's length and the limits before it allocates memory of that size. Results are valid until the archive
 * is closed (or the walk, where stated).
 * - Threads: there is no global state. Many threads may call functions with a `const onnxar_reader*` at once, provided
 * that callbacks and allocator allow it. One thread at a time may use a walk.
 * - Trust: no call reads out of bounds, whatever the bytes are, even if a source returns different bytes at each read.
 * The work is linear in the file's size, times a logarithm if names were chosen to share a hash. Opening checks stage
 * open of the specification; stage use is checked before an entry's bytes are returned, M8 to M21 before a tensor is.
 * CRC-32s are compared on demand. A mapped file that is shortened faults on access: replace it by renaming.
 * - Define for onnxar_reader.c: OAR_NO_MMAP to read files with stdio also on POSIX, where they are mapped otherwise
 * (stdio blocks on pipes); OAR_NO_STDIO to omit onnxar_reader_open; OAR_API for text before each function: `static`. */
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
#define OAR_MESSAGE_SIZE 1600    /* room for each line of onnxar_reader_message */

/* --- Opening ------------------------------------------------------------------------------------------------------ */

typedef struct onnxar_reader onnxar_reader;

/* Why a call failed. `code` is a stable id of the specification, such as "zip.entry.overlap", or one of these:
 * `io.failed` (also if memory ran out), `io.not_found`, `io.permission`, `io.not_a_file`, `io.address_space` (too
 * large for 32 bits), `usage.argument`, `usage.no_such_entry`. */
typedef struct onnxar_reader_error {
  const char* code;
  const char* rule;     /* of the specification, such as "P3"; or "" */
  const char* sentence; /* what is wrong */
  uint64_t offset;      /* in the file, as in checking.md; or OAR_NO_OFFSET */
  size_t entry_length;  /* of the entry's name; 0 if no entry is named */
  char entry[1025];     /* its first 1024 bytes, unchecked: it may hold any byte */
  char location[256];   /* for M9, the name that no entry has: its first 255 bytes; else "" */
} onnxar_reader_error;

/* Writes `zip.entry.overlap in "a" at 64: the entry overlaps the next`, with `?` for unprintable bytes, truncated
 * to the buffer, and terminated. Returns the buffer. */
OAR_API const char* onnxar_reader_message(const onnxar_reader_error* error, char* buffer, size_t size);

/* Zero means the default, so begin with `onnxar_reader_options options = {0};`. */
typedef struct onnxar_reader_options {
  uint64_t max_entries;   /* zip.limit.entries; 2^20 by default */
  uint64_t max_directory; /* zip.limit.directory: bytes of the central directory; 256 MiB by default */
  uint64_t max_model;     /* archive.model.too_large: bytes of __MODEL_PROTO; 2^31 - 1 by default, which is the most */
  /* Both or neither; used instead of malloc and free. `release` is never called with NULL. */
  void* (*allocate)(void* context, size_t size);
  void (*release)(void* context, void* block);
  void* allocator_context;
} onnxar_reader_options;

/* An archive that callbacks read in ranges. `read` copies `length` bytes (at least 1) from `offset`, all within `size`.
 * It returns 0 if it succeeds, and any other number if it fails (io.failed). */
typedef struct onnxar_reader_source {
  uint64_t size; /* of the archive */
  int (*read)(void* context, uint64_t offset, size_t length, void* buffer);
  void* context;
} onnxar_reader_source;

/* Opens an archive and checks stage open. `options` may be NULL. A failure sets *archive to NULL.
 * Memory must not change until the archive is closed. If it begins at a multiple of 64 bytes (or of 4096, for larger
 * alignments), so does each entry in it. Opening a source reads the end of the file, the directory, and local headers
 * where P5 requires it: two reads if a usual writer made the archive. */
#ifndef OAR_NO_STDIO
OAR_API int onnxar_reader_open(const char* path, const onnxar_reader_options* options, onnxar_reader** archive,
                               onnxar_reader_error* error);
#endif
OAR_API int onnxar_reader_open_memory(const void* data, size_t size, const onnxar_reader_options* options,
                                      onnxar_reader** archive, onnxar_reader_error* error);
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

/* Bytes of an entry. */
typedef struct onnxar_reader_range {
  const void* data; /* in place; NULL if the archive is read by callbacks */
  uint64_t offset;  /* in the file */
  uint64_t size;
} onnxar_reader_range;

/* Entries have the indices from 0 on, in the order of the file; the last is the model, __MODEL_PROTO. */
OAR_API size_t onnxar_reader_count(const onnxar_reader* archive);
OAR_API size_t onnxar_reader_model(const onnxar_reader* archive);
OAR_API int onnxar_reader_get_entry(const onnxar_reader* archive, size_t index, onnxar_reader_entry* entry,
                                    onnxar_reader_error* error);

/* Returns the index of the entry with exactly this name, or OAR_NOT_FOUND, in O(length) unless names share a hash. A
 * further model over the same weights (graphs.md) is an entry such as "decoder.onnx"; `is_graph` is 1 for these. */
OAR_API size_t onnxar_reader_find(const onnxar_reader* archive, const char* name, size_t length);
OAR_API int onnxar_reader_is_graph(const onnxar_reader* archive, size_t index);
/* Checks stage use, and sets `range` to the data of an entry: a model for a protobuf parser, say, or a tokenizer. */
OAR_API int onnxar_reader_get_data(const onnxar_reader* archive, size_t index, onnxar_reader_range* range,
                                   onnxar_reader_error* error);

/* Finds the bytes that a tensor's `external_data` names, for programs that parse the model with protobuf: *length bytes
 * of the entry `location` from `offset` on, or all bytes from there if `length` is NULL. The caller compares the length
 * with type and dimensions (M17, M18). Codes: onnx.external_data.no_location, .missing, .out_of_range, stage use. */
OAR_API int onnxar_reader_resolve(const onnxar_reader* archive, const char* location, size_t location_length,
                                  uint64_t offset, const uint64_t* length, onnxar_reader_range* range,
                                  onnxar_reader_error* error);
/* Copies bytes of the file, for archives that are read by callbacks: a range that was returned, or a part of it. */
OAR_API int onnxar_reader_copy(const onnxar_reader* archive, uint64_t offset, size_t length, void* buffer,
                               onnxar_reader_error* error);
/* Compares the CRC-32 of an entry (zip.data.crc), in 16 KiB of memory at most. */
OAR_API int onnxar_reader_verify(const onnxar_reader* archive, size_t index, onnxar_reader_error* error);

/* Runs stage check, for untrusted archives: each local header, each superseded state, each tensor of the model and of
 * each graph. Reports the first breach. OAR_CHECK_DATA adds each CRC-32. Ignores `checksum` of tensors (M22). */
#define OAR_CHECK_DATA 1u
OAR_API int onnxar_reader_check(const onnxar_reader* archive, unsigned flags, onnxar_reader_error* error);

/* --- Tensors ------------------------------------------------------------------------------------------------------ */

/* Where a tensor is: an initializer; `t` or `tensors` of a node's attribute; values (which have the name) or indices of
 * a sparse tensor; anything else beneath `attribute_proto` of a function; anything else beneath `training_info`. */
enum { OAR_INITIALIZER, OAR_ATTRIBUTE, OAR_SPARSE_VALUES, OAR_SPARSE_INDICES, OAR_FUNCTION_DEFAULT, OAR_TRAINING };

/* Where a tensor's values are: nowhere (it has no elements, or is filled in later), in `raw_data`, in an entry, or in a
 * typed field. */
enum { OAR_NO_DATA, OAR_INLINE, OAR_LINKED, OAR_TYPED };

/* `name` is not terminated and may hold any byte. `name`, `message` and inline data are valid until the walk is closed,
 * `dims` until the next tensor. Data in an entry is aligned like the link's offset; inline data is not aligned. */
typedef struct onnxar_reader_tensor {
  const char* name;
  size_t name_length;
  const int64_t* dims; /* none is negative */
  size_t rank;         /* at most 1024 */
  uint64_t elements;   /* the product; UINT64_MAX if it is larger (only STRING and unknown types) */
  int32_t data_type;   /* TensorProto.DataType, never 0 */
  int site, kind;
  size_t entry;     /* OAR_LINKED: its index */
  const void* data; /* OAR_INLINE, OAR_LINKED: little-endian, as in `raw_data`; NULL if linked and read by callbacks */
  uint64_t offset;  /* of the data in the file, for onnxar_reader_copy */
  uint64_t size;    /* of the data: all bytes that type and dimensions need, or more if inline */
  uint64_t values;  /* OAR_TYPED: the number in the field */
  int field; /* OAR_TYPED: float_data 4, int32_data 5, string_data 6, int64_data 7, double_data 10, uint64_data 11 */
  const void* message; /* the serialised TensorProto */
  size_t message_size;
  size_t graph; /* names are unique only in a graph. 0: the main graph; each subgraph and function has its own number */
} onnxar_reader_tensor;
typedef struct onnxar_reader_walk onnxar_reader_walk;

/* Begins a walk through a model. Close it before the archive. `index`: onnxar_reader_model, or a graph. */
OAR_API int onnxar_reader_walk_open(const onnxar_reader* archive, size_t index, onnxar_reader_walk** walk,
                                    onnxar_reader_error* error);
OAR_API void onnxar_reader_walk_close(onnxar_reader_walk* walk);

/* Finds the next tensor in the order of the bytes: initializers, sparse tensors, attributes, subgraphs, functions and
 * training info. 1: a tensor that obeys its rules; 0: the model ended; -1: an error, which later calls repeat. */
OAR_API int onnxar_reader_walk_next(onnxar_reader_walk* walk, onnxar_reader_tensor* tensor, onnxar_reader_error* error);
/* Writes the place of the last tensor, `graph.node[3].attribute[0].t`, cut as by snprintf. Returns the full length. */
OAR_API size_t onnxar_reader_walk_site(const onnxar_reader_walk* walk, char* buffer, size_t size);
/* Returns the output of the Constant node whose value is the last tensor. Nodes refer to the weight by it; the
 * tensor may have no name. NULL for other tensors, or if there is no last tensor. Valid like `name`, not terminated. */
OAR_API const char* onnxar_reader_walk_output(const onnxar_reader_walk* walk, size_t* length);
/* Returns the serialised ModelProto, valid until the walk is closed. */
OAR_API const void* onnxar_reader_walk_model(const onnxar_reader_walk* walk, size_t* size);

/* --- Values and fields -------------------------------------------------------------------------------------------- */

/* Copies the first values of an OAR_TYPED tensor into an array of the field's type: float, int32_t, int64_t, double or
 * uint64_t. Returns their number; 0 for string_data, which onnxar_reader_next_field reads. float16 and narrower types
 * are in the low bits of int32_data, two (4 bits) or four (2 bits) to a value; a complex number takes two values. */
OAR_API size_t onnxar_reader_copy_values(const onnxar_reader_tensor* tensor, void* buffer, size_t count);

/* A field of a serialised message, for programs without protobuf that read nodes, inputs and outputs. */
typedef struct onnxar_reader_field {
  uint32_t number;
  uint32_t wire_type;        /* 0: a varint; 1, 5: 8 or 4 bytes; 2: a message, text, bytes or a packed run */
  uint64_t value;            /* the number; the length for wire type 2 */
  const unsigned char* data; /* where the value is in the message */
  size_t length;
} onnxar_reader_field;

/* Reads the next field of a message, and moves *message and *size past it. 1: a field; 0: the end; -1: bad bytes. */
OAR_API int onnxar_reader_next_field(const void** message, size_t* size, onnxar_reader_field* field);

#ifdef __cplusplus
}
#endif

#endif /* ONNXAR_READER_H */
