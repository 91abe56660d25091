/* Reading ONNX archives from C, and from every language that can call C.
 *
 *   onnxar_archive* archive = NULL;
 *   onnxar_error* error = NULL;
 *   onnxar_bytes model;
 *   if (onnxar_open_path(ONNXAR_C_ABI, "model.onnxar", NULL, &archive, &error) != ONNXAR_OK) {
 *     fprintf(stderr, "%s\n", onnxar_error_line(error));
 *     onnxar_error_free(error);
 *   }
 *
 * C99 and nothing else; library libonnxar_c (CMake: onnxar::c, pkg-config: onnxar-c).
 *
 * Status. A function that can fail returns ONNXAR_OK or a status that says who can mend it. Where `error` is not NULL,
 * it is set to an account of the failure, to be freed by the caller, or to NULL. Results are written on success only.
 * No C++ exception ever comes through. An argument that must not be NULL and is one is ONNXAR_USAGE.
 *
 * Lifetime. Whatever an archive gives - bytes, names - is a view: valid until onnxar_close, or, if somebody retained
 * the archive's owner, until that is released. An archive must not be used after it was closed.
 *
 * Threads. Functions that take a const onnxar_archive may be called for one archive from several threads at once; so
 * may retain and release. Errors belong to the one thread that got them.
 *
 * Version. ONNXAR_C_ABI changes when callers have to be compiled anew; a library refuses callers of another one. It may
 * get new functions meanwhile, and onnxar_open_options new members at its end: a caller compiled against an earlier
 * header, whose struct is shorter, gets what 0 means for them. All other structs stay as they are.
 *
 * The file while it is mapped. Replaced by a rename, removed, or edited by this library: all stays as it was opened.
 * Shortened (as by `onnxar undo`): bytes that were cut off fault on access (SIGBUS). With `copy_in` nothing matters
 * that happens once opening has returned. Offsets count from the archive's first byte, which is that of the file unless
 * it is opened at an offset.
 */
#ifndef ONNXAR_ONNXAR_C_H_
#define ONNXAR_ONNXAR_C_H_

/* To C++ it looks old: NOLINTBEGIN(modernize-*, readability-identifier-naming) */
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What a caller was compiled against; the first argument of what opens archives. */
#define ONNXAR_C_ABI 1

/* A length that means: up to the NUL that ends the string. */
#define ONNXAR_TERMINATED SIZE_MAX
/* A length that means: up to the end. */
#define ONNXAR_TO_END UINT64_MAX

typedef int32_t onnxar_status;
enum {
  ONNXAR_OK = 0,
  ONNXAR_USAGE = 1,   /* the call: an argument, another ABI */
  ONNXAR_IO = 2,      /* the machine: a missing file, a permission */
  ONNXAR_FORMAT = 3,  /* the bytes: a broken archive, a wrong link */
  ONNXAR_MEMORY = 4,  /* memory is short */
  ONNXAR_INTERNAL = 5 /* a fault of this library */
};

typedef struct onnxar_archive onnxar_archive; /* an open archive */
typedef struct onnxar_owner onnxar_owner;     /* a share in what its views are views of */
typedef struct onnxar_error onnxar_error;     /* what went wrong */

/* A view. */
typedef struct onnxar_bytes {
  const void* data;
  size_t size;
} onnxar_bytes;

/* What becomes of the pages of a mapping. */
enum {
  ONNXAR_PREFETCH_NONE = 0,      /* each is read when it is first touched */
  ONNXAR_PREFETCH_WILL_NEED = 1, /* the system reads ahead while the call returns */
  ONNXAR_PREFETCH_POPULATE = 2   /* all are in memory when the call returns */
};

/* How to open: {.struct_size = sizeof(onnxar_open_options)} is the same as no options. */
typedef struct onnxar_open_options {
  size_t struct_size;          /* sizeof(onnxar_open_options) */
  uint64_t max_entries;        /* 0: 2^20 */
  uint64_t max_directory_size; /* bytes; 0: 256 MiB */
  uint64_t max_model_size;     /* bytes; 0: 2^31 - 1 */
  int32_t prefetch;            /* ONNXAR_PREFETCH_*: of all bytes */
  int32_t copy_in;             /* not 0: read the file into memory, whatever becomes of it later */
  uint64_t num_threads;        /* that read with copy_in; 0: as many as there are cores */
} onnxar_open_options;

/* One entry, as the directory tells it. */
typedef struct onnxar_entry {
  uint64_t index;
  const char* name; /* a view, UTF-8, no NUL at its end */
  size_t name_length;
  uint64_t size; /* bytes */
  uint32_t crc32;
  uint32_t reserved; /* 0 */
} onnxar_entry;

/* Where an entry's bytes lie. */
typedef struct onnxar_location {
  uint64_t offset;    /* of the first byte, from the archive's first byte */
  uint64_t alignment; /* as recorded, 64 where no record is: offset is a multiple of it */
} onnxar_location;

/* The version of the library, such as "0.1.0", and its ONNXAR_C_ABI. */
const char* onnxar_version(void);
uint32_t onnxar_c_abi(void);

/* Maps and opens the file at `path`, which ends in NUL. `options` may be NULL. ONNXAR_USAGE: another `abi`, options of
 * a later version that this library does not know. ONNXAR_IO: the file; code archive.busy: it is being edited, try
 * again. ONNXAR_FORMAT: no archive. */
onnxar_status onnxar_open_path(uint32_t abi, const char* path, const onnxar_open_options* options,
                               onnxar_archive** archive, onnxar_error** error);

/* Opens an archive in a part of an open file: `offset` is a multiple of 64, `length` may be ONNXAR_TO_END. The
 * descriptor stays the caller's, who may close it at once. */
onnxar_status onnxar_open_descriptor(uint32_t abi, int descriptor, uint64_t offset, uint64_t length,
                                     const onnxar_open_options* options, onnxar_archive** archive,
                                     onnxar_error** error);

/* Opens an archive in memory, which should begin on a page. `release(context)` is called once, by any thread, when the
 * archive is closed and the last owner is released; not when opening fails. It may be NULL: then the caller keeps the
 * bytes alive longer than that. */
onnxar_status onnxar_open_memory(uint32_t abi, const void* data, size_t size, void (*release)(void* context),
                                 void* context, const onnxar_open_options* options, onnxar_archive** archive,
                                 onnxar_error** error);

/* Ends the life of `archive`, which may be NULL, and of its views, unless somebody retains an owner. */
void onnxar_close(onnxar_archive* archive);

/* How many entries there are, the model among them; 0 for NULL. */
uint64_t onnxar_count(const onnxar_archive* archive);

/* Entry `index` in the order of the file; the last one is the model. ONNXAR_USAGE: there is none. */
onnxar_status onnxar_get_entry(const onnxar_archive* archive, uint64_t index, onnxar_entry* entry,
                               onnxar_error** error);

/* The entry of exactly this name. ONNXAR_USAGE, code usage.no_such_entry: there is none. */
onnxar_status onnxar_find(const onnxar_archive* archive, const char* name, size_t name_length, onnxar_entry* entry,
                          onnxar_error** error);

/* Where the entry's bytes lie, and the bytes. Its local header is proved at the first use: ONNXAR_FORMAT. */
onnxar_status onnxar_locate(const onnxar_archive* archive, uint64_t index, onnxar_location* location,
                            onnxar_error** error);
onnxar_status onnxar_get_bytes(const onnxar_archive* archive, uint64_t index, onnxar_bytes* bytes,
                               onnxar_error** error);

/* The serialised ModelProto. */
onnxar_status onnxar_model(const onnxar_archive* archive, onnxar_bytes* bytes, onnxar_error** error);

/* What a tensor's external_data names: the entry `location`, and of it `length` bytes (ONNXAR_TO_END: where the model
 * gives none) from `offset` (0 where it gives none) on. ONNXAR_FORMAT: no such entry, or the part leaves it. */
onnxar_status onnxar_resolve(const onnxar_archive* archive, const char* location, size_t location_length,
                             uint64_t offset, uint64_t length, onnxar_bytes* bytes, onnxar_error** error);

/* Tensors, for callers without a protobuf of their own, or who leave it to this library to judge what external_data
 * says. A list is a view of the archive: it is freed before the archive is closed. Its functions may be called from
 * several threads at once. */
#define ONNXAR_HAVE_TENSORS 1
typedef struct onnxar_tensors onnxar_tensors;

/* One tensor of a list; what it points to is the list's. */
typedef struct onnxar_tensor {
  const char* name; /* TensorProto.name, as it stands in the model, no NUL at its end */
  size_t name_length;
  const char* site; /* where in the model: graph.initializer[3], graph.node[7].attr.value */
  size_t site_length;
  const int64_t* dims;
  size_t dims_count;
  int32_t data_type; /* TensorProto.DataType */
  int32_t reserved;  /* 0 */
} onnxar_tensor;

/* Every tensor of the model, at every site, in the order of the model. ONNXAR_FORMAT: the model is damaged, or says
 * something twice that may be said once. */
onnxar_status onnxar_get_tensors(const onnxar_archive* archive, onnxar_tensors** tensors, onnxar_error** error);
/* NULL is allowed. */
void onnxar_tensors_free(onnxar_tensors* tensors);
/* How many there are; 0 for NULL. */
uint64_t onnxar_tensor_count(const onnxar_tensors* tensors);
/* ONNXAR_USAGE, code usage.no_such_tensor: there is none of this number. */
onnxar_status onnxar_get_tensor(const onnxar_tensors* tensors, uint64_t index, onnxar_tensor* tensor,
                                onnxar_error** error);
/* Its raw bytes, wherever they are: in an entry, or in the model, where values in typed fields are decoded. Elements
 * below 8 bits are packed. ONNXAR_FORMAT: what loading refuses, such as a link that leads nowhere, or data of another
 * length than type and dims call for; code onnx.tensor.not_converted: strings, which have no raw bytes. */
onnxar_status onnxar_get_tensor_bytes(onnxar_tensors* tensors, uint64_t index, onnxar_bytes* bytes,
                                      onnxar_error** error);

/* Has the system read ahead in an entry, or waits until all of it is in memory. */
onnxar_status onnxar_prefetch(const onnxar_archive* archive, uint64_t index, int32_t prefetch, onnxar_error** error);

/* Compares the CRC-32 of the entry's bytes; reads them all. ONNXAR_FORMAT, code zip.data.crc: they were changed. */
onnxar_status onnxar_verify(const onnxar_archive* archive, uint64_t index, onnxar_error** error);

/* A new share in what the archive's views are views of: they stay valid until all shares are released, also when the
 * archive is closed. Of memory that was opened without `release` a share keeps nothing. */
onnxar_status onnxar_get_owner(const onnxar_archive* archive, onnxar_owner** owner, onnxar_error** error);
/* Each retain wants a release of its own. NULL is allowed. */
void onnxar_owner_retain(onnxar_owner* owner);
void onnxar_owner_release(onnxar_owner* owner);

/* What an error says; valid until it is freed. For NULL: ONNXAR_OK, "", 0. */
onnxar_status onnxar_error_status(const onnxar_error* error);
/* A stable id, such as "zip.entry.overlap" (error_codes.inc); "c.memory" and "c.internal" are this interface's own. */
const char* onnxar_error_code(const onnxar_error* error);
/* A sentence for a person; and with path, entry and offset in front, on one line. */
const char* onnxar_error_message(const onnxar_error* error);
const char* onnxar_error_line(const onnxar_error* error);
/* The entry and the path in question; "" where there is none. */
const char* onnxar_error_entry(const onnxar_error* error);
const char* onnxar_error_path(const onnxar_error* error);
/* Whether a place in the file is known (1 or 0); then `offset`, which may be NULL, is set to it. */
int onnxar_error_offset(const onnxar_error* error, uint64_t* offset);
/* NULL is allowed. */
void onnxar_error_free(onnxar_error* error);

#ifdef __cplusplus
}
#endif
/* NOLINTEND(modernize-*, readability-identifier-naming) */

#endif /* ONNXAR_ONNXAR_C_H_ */
