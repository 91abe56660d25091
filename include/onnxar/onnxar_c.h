/* ONNX archives from C, and from every language that can call C: reading, writing, and the command line's verbs.
 *
 *   onnxar_archive* archive = NULL;
 *   onnxar_error* error = NULL;
 *   if (onnxar_open_path(ONNXAR_C_ABI, "model.onnxar", NULL, &archive, &error) != ONNXAR_OK) {
 *     fprintf(stderr, "%s\n", onnxar_error_line(error));
 *     onnxar_error_free(error);
 *   }
 *
 * C99 only; library libonnxar_c (CMake: onnxar::c, pkg-config: onnxar-c).
 *
 * Status. A function that can fail returns ONNXAR_OK or a status that gives the class of the failure. If `error` is not
 * NULL, it is set to a description of the failure, which the caller frees, or to NULL. Results are written on success
 * only. No C++ exception leaves a function. NULL for an argument that must not be NULL is ONNXAR_USAGE; functions that
 * free, close or release accept NULL.
 *
 * Lifetime. Bytes and names that an archive gives are views: they are valid until onnxar_close, or until the last share
 * in the archive's owner is released, whichever is later. An archive must not be used after it was closed.
 *
 * Threads. Functions that take a const archive or list of tensors may be called for one of them from several threads at
 * once, and so may onnxar_get_tensor_bytes, retain and release. Writers, keys, reports and errors are not synchronised.
 * Callbacks run on the thread that makes the call, except `release`.
 *
 * Version. ONNXAR_C_ABI changes when callers have to be recompiled; a library refuses callers of another ABI. Within
 * one ABI the library may get new functions, and the structs that begin with `struct_size` may get new members at their
 * end, where 0 is what earlier callers get. All other structs stay as they are (docs/abi.md).
 *
 * The file while it is mapped. If it is renamed over, removed, or edited by this library, the archive stays as it was
 * opened. If it is shortened (`onnxar undo` does that), access to the bytes that were cut off raises SIGBUS. An archive
 * opened with `copy_in` does not depend on its file. Offsets count from the archive's first byte; that is the first
 * byte of the file unless the archive was opened at an offset.
 */
#ifndef ONNXAR_ONNXAR_C_H_
#define ONNXAR_ONNXAR_C_H_

/* This is C, which C++ checks call old-fashioned: NOLINTBEGIN(modernize-*, readability-identifier-naming) */
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The ABI that a caller is compiled against: the first argument of every function that takes no handle and can fail. */
#define ONNXAR_C_ABI 1
#define ONNXAR_HAVE_TENSORS 1 /* added to this ABI: onnxar_tensors, except onnxar_lookup */
#define ONNXAR_HAVE_WRITING 1 /* added to this ABI: lookup, read_entry, is_archive, writers, verbs, hints */

#define ONNXAR_TERMINATED SIZE_MAX /* a length that means: up to the NUL that ends the string */
#define ONNXAR_TO_END UINT64_MAX   /* a length that means: up to the end */

typedef int32_t onnxar_status;
enum {
  ONNXAR_OK = 0,
  ONNXAR_USAGE = 1,   /* the call: an argument, another ABI, an output that exists */
  ONNXAR_IO = 2,      /* the machine: a missing file, a permission, a full disk */
  ONNXAR_FORMAT = 3,  /* the bytes: a broken archive, a wrong link */
  ONNXAR_MEMORY = 4,  /* not enough memory */
  ONNXAR_INTERNAL = 5 /* a fault of this library */
};

typedef struct onnxar_archive onnxar_archive; /* an open archive */
typedef struct onnxar_owner onnxar_owner;     /* a share in the memory that an archive's views point into */
typedef struct onnxar_error onnxar_error;     /* what went wrong */
typedef struct onnxar_tensors onnxar_tensors; /* the tensors of an archive's model */
typedef struct onnxar_writer onnxar_writer;   /* an archive that is being written */
typedef struct onnxar_keys onnxar_keys;       /* makes the names of a new archive's entries */
typedef struct onnxar_report onnxar_report;   /* what a verb did */

typedef struct onnxar_bytes { /* a view */
  const void* data;
  size_t size;
} onnxar_bytes;

/* What happens to the pages of a mapping. */
enum {
  ONNXAR_PREFETCH_NONE = 0,      /* each page is read when it is first touched */
  ONNXAR_PREFETCH_WILL_NEED = 1, /* the system reads ahead in the background */
  ONNXAR_PREFETCH_POPULATE = 2   /* all pages are in memory when the call returns */
};

/* How to open: {.struct_size = sizeof(onnxar_open_options)} is the same as no options. */
typedef struct onnxar_open_options {
  size_t struct_size;          /* sizeof(onnxar_open_options) */
  uint64_t max_entries;        /* 0: 2^20 */
  uint64_t max_directory_size; /* bytes; 0: 256 MiB */
  uint64_t max_model_size;     /* bytes; 0: 2^31 - 1 */
  int32_t prefetch;            /* ONNXAR_PREFETCH_*: of all bytes */
  int32_t copy_in;             /* not 0: read the file into memory instead of mapping it */
  uint64_t num_threads;        /* threads that read with copy_in; 0: one per core */
} onnxar_open_options;

/* One entry, as the central directory describes it. */
typedef struct onnxar_entry {
  uint64_t index;
  const char* name; /* a view, UTF-8, not terminated by NUL */
  size_t name_length;
  uint64_t size; /* bytes */
  uint32_t crc32;
  uint32_t reserved; /* 0 */
} onnxar_entry;

/* Where an entry's bytes are. */
typedef struct onnxar_location {
  uint64_t offset;    /* of the first byte, from the archive's first byte; a multiple of `alignment` */
  uint64_t alignment; /* as recorded; 64 if the entry has no record */
} onnxar_location;

/* The version of the library at run time: "0.1.0"; as a number, major * 10000 + minor * 100 + patch; its ABI. */
const char* onnxar_version(void);
uint32_t onnxar_version_number(void);
uint32_t onnxar_c_abi(void);

/* Maps and opens the file at `path`. `options` may be NULL. ONNXAR_USAGE: another `abi`, or options of a later version
 * that this library does not know. ONNXAR_IO: the file; code archive.busy: it is being edited, try again.
 * ONNXAR_FORMAT: the file is not an archive. */
onnxar_status onnxar_open_path(uint32_t abi, const char* path, const onnxar_open_options* options,
                               onnxar_archive** archive, onnxar_error** error);
/* Opens an archive in a part of an open file: `offset` is a multiple of 64, `length` may be ONNXAR_TO_END. The
 * descriptor stays the caller's, who may close it at once. */
onnxar_status onnxar_open_descriptor(uint32_t abi, int descriptor, uint64_t offset, uint64_t length,
                                     const onnxar_open_options* options, onnxar_archive** archive,
                                     onnxar_error** error);
/* Opens an archive in memory, which should begin on a page. `release(context)` is called once, by any thread, when the
 * archive is closed and the last owner is released; it is not called if opening fails. `release` may be NULL: then the
 * caller keeps the bytes alive longer than that. */
onnxar_status onnxar_open_memory(uint32_t abi, const void* data, size_t size, void (*release)(void* context),
                                 void* context, const onnxar_open_options* options, onnxar_archive** archive,
                                 onnxar_error** error);
/* 1 if onnxar_open_path accepts the file at `path`, else 0. ONNXAR_IO: it cannot be read, or is being edited. */
onnxar_status onnxar_is_archive(uint32_t abi, const char* path, int* is_archive, onnxar_error** error);
/* Ends the life of `archive` and of its views, unless an owner is retained. */
void onnxar_close(onnxar_archive* archive);

/* The number of entries, including the model; 0 for NULL. */
uint64_t onnxar_count(const onnxar_archive* archive);
/* Entry `index` in the order of the file; the last one is the model. ONNXAR_USAGE: there is no such entry. */
onnxar_status onnxar_get_entry(const onnxar_archive* archive, uint64_t index, onnxar_entry* entry,
                               onnxar_error** error);
/* The entry of exactly this name. ONNXAR_USAGE, code usage.no_such_entry: there is no such entry. */
onnxar_status onnxar_find(const onnxar_archive* archive, const char* name, size_t name_length, onnxar_entry* entry,
                          onnxar_error** error);

/* Where the entry's bytes are, and the bytes. The first call for an entry checks its local header: ONNXAR_FORMAT. */
onnxar_status onnxar_locate(const onnxar_archive* archive, uint64_t index, onnxar_location* location,
                            onnxar_error** error);
onnxar_status onnxar_get_bytes(const onnxar_archive* archive, uint64_t index, onnxar_bytes* bytes,
                               onnxar_error** error);
/* Copies the entry's bytes to `buffer` and compares the CRC-32 of what was copied. ONNXAR_USAGE: `size` is not the
 * entry's size. ONNXAR_FORMAT, code zip.data.crc: the bytes are damaged. After an error `buffer` is undefined. */
onnxar_status onnxar_read_entry(const onnxar_archive* archive, uint64_t index, void* buffer, size_t size,
                                onnxar_error** error);

/* The serialised ModelProto. */
onnxar_status onnxar_model(const onnxar_archive* archive, onnxar_bytes* bytes, onnxar_error** error);
/* The bytes that a tensor's external_data refers to: in the entry `location`, `length` bytes (ONNXAR_TO_END if the
 * model gives none) from `offset` on (0 if it gives none). ONNXAR_FORMAT: no such entry, or the range leaves it. */
onnxar_status onnxar_resolve(const onnxar_archive* archive, const char* location, size_t location_length,
                             uint64_t offset, uint64_t length, onnxar_bytes* bytes, onnxar_error** error);
/* Has the system read ahead in an entry, or waits until all of it is in memory. */
onnxar_status onnxar_prefetch(const onnxar_archive* archive, uint64_t index, int32_t prefetch, onnxar_error** error);
/* Compares the CRC-32 of the entry's bytes; reads them all. ONNXAR_FORMAT, code zip.data.crc: the bytes are damaged. */
onnxar_status onnxar_verify(const onnxar_archive* archive, uint64_t index, onnxar_error** error);

/* A new share in the memory that the archive's views point into. The views stay valid until all shares are released,
 * even if the archive is closed. A share in memory that was opened without `release` keeps nothing alive. */
onnxar_status onnxar_get_owner(const onnxar_archive* archive, onnxar_owner** owner, onnxar_error** error);
/* Each retain needs a release. */
void onnxar_owner_retain(onnxar_owner* owner);
void onnxar_owner_release(onnxar_owner* owner);

/* One tensor of a list; its pointers are valid as long as the list. */
typedef struct onnxar_tensor {
  const char* name; /* TensorProto.name, as the model has it, not terminated by NUL */
  size_t name_length;
  const char* site; /* where in the model: graph.initializer[3], graph.node[7].attr.value */
  size_t site_length;
  const int64_t* dims;
  size_t dims_count;
  int32_t data_type; /* TensorProto.DataType */
  int32_t reserved;  /* 0 */
} onnxar_tensor;

/* Every tensor of the model, at every site, in the order of the model; no protobuf is needed. The list is a view of the
 * archive: free it before the archive is closed. ONNXAR_FORMAT: the model is damaged or ambiguous. */
onnxar_status onnxar_get_tensors(const onnxar_archive* archive, onnxar_tensors** tensors, onnxar_error** error);
void onnxar_tensors_free(onnxar_tensors* tensors);
/* The number of tensors; 0 for NULL. */
uint64_t onnxar_tensor_count(const onnxar_tensors* tensors);
/* ONNXAR_USAGE, code usage.no_such_tensor: there is no tensor of this number. */
onnxar_status onnxar_get_tensor(const onnxar_tensors* tensors, uint64_t index, onnxar_tensor* tensor,
                                onnxar_error** error);
/* The tensor's raw bytes, from an entry or from the model; values in typed fields are decoded. Elements below 8 bits
 * are packed. ONNXAR_FORMAT: what loading refuses, such as a link that leads nowhere, or data of another length than
 * type and dims require; code onnx.tensor.not_converted: strings, which have no raw bytes. */
onnxar_status onnxar_get_tensor_bytes(onnxar_tensors* tensors, uint64_t index, onnxar_bytes* bytes,
                                      onnxar_error** error);
/* The number of the tensor of this name. If several have it, the initializer of the main graph comes before others.
 * ONNXAR_USAGE, code usage.no_such_tensor: no tensor has it; the message names similar ones. */
onnxar_status onnxar_lookup(const onnxar_tensors* tensors, const char* name, size_t name_length, uint64_t* index,
                            onnxar_error** error);

/* How to write: {.struct_size = sizeof(onnxar_writer_options)} is the same as no options. */
typedef struct onnxar_writer_options {
  size_t struct_size;      /* sizeof(onnxar_writer_options) */
  uint64_t alignment;      /* of every entry, a power of two from 64 to 32768; 0: 64 */
  uint64_t threads;        /* threads that write and sum; 0: one per core */
  int32_t overwrite;       /* not 0: replace an existing file */
  int32_t no_sync;         /* not 0: do not sync file and folder */
  int32_t no_verify_model; /* not 0: finish does not check the model and its links */
  int32_t reserved;        /* 0 */
} onnxar_writer_options;

/* Fills the front of `buffer` and returns the number of bytes; 0: the stream ends. ONNXAR_READ_FAILED stops the call
 * that reads: it returns ONNXAR_USAGE with code c.callback. */
typedef size_t (*onnxar_reader)(void* context, void* buffer, size_t size);
#define ONNXAR_READ_FAILED SIZE_MAX

/* Begins an archive. The file gets its name in finish, so readers never see half an archive. A failed call, except one
 * with a NULL argument, makes all later ones fail: code usage.writer_failed. ONNXAR_USAGE, code output.exists. */
onnxar_status onnxar_create(uint32_t abi, const char* path, const onnxar_writer_options* options,
                            onnxar_writer** writer, onnxar_error** error);
/* Sets disk space aside for so many bytes in all. */
onnxar_status onnxar_reserve(onnxar_writer* writer, uint64_t bytes, onnxar_error** error);
/* Adds an entry from memory, or `size` bytes of a stream. Its name is what external_data gives as location. */
onnxar_status onnxar_add(onnxar_writer* writer, const char* name, size_t name_length, const void* data, size_t size,
                         onnxar_error** error);
onnxar_status onnxar_add_stream(onnxar_writer* writer, const char* name, size_t name_length, uint64_t size,
                                onnxar_reader read, void* context, onnxar_error** error);
/* Writes the serialised ModelProto, checks its links, and publishes the file. The writer is still to be freed. */
onnxar_status onnxar_finish(onnxar_writer* writer, const void* model, size_t size, onnxar_error** error);
/* Frees the writer, and discards an archive that was not finished. */
void onnxar_writer_free(onnxar_writer* writer);

/* Makes entry names of tensor names: C identifiers that differ from each other, ASCII case aside. */
onnxar_status onnxar_keys_create(uint32_t abi, onnxar_keys** keys, onnxar_error** error);
/* A new key for a tensor of this name; it ends in NUL and is valid until the keys are freed. */
onnxar_status onnxar_make_key(onnxar_keys* keys, const char* tensor_name, size_t name_length, const char** key,
                              onnxar_error** error);
void onnxar_keys_free(onnxar_keys* keys);

/* A file that becomes an entry beside the weights. Its name is not a C identifier: those are keys of tensors. */
typedef struct onnxar_added_file {
  const char* name;
  const char* path;
} onnxar_added_file;

/* Options of verbs: {.struct_size = sizeof(onnxar_options)} is the same as no options. A comment names the verbs that
 * take a member; if it is not 0, other verbs refuse it: ONNXAR_USAGE. Flags are 0 or not 0. */
typedef struct onnxar_options {
  size_t struct_size;      /* sizeof(onnxar_options) */
  int32_t overwrite;       /* pack unpack repack link extract: replace existing outputs */
  int32_t no_sync;         /* all except check: do not sync files and folders */
  int32_t dry_run;         /* all except check: find the faults, write nothing */
  int32_t checksum_sha1;   /* pack: links carry the SHA-1 of their data */
  int32_t file_per_tensor; /* unpack: a data file for each tensor */
  int32_t append_external; /* replace: data files of the new model become entries */
  int32_t foreign_zips;    /* pack unpack: also read zip files that are not archives, such as PyTorch's */
  int32_t raw;             /* extract: raw bytes, not .npy */
  int32_t data;            /* check: also compare all CRC-32s and checksums */
  int32_t strict;          /* check: warnings are errors */
  uint64_t threads;        /* pack unpack check repack; 0: one per core */
  uint64_t threshold;      /* pack unpack replace: bytes from which data leaves the ModelProto; 0: 1024 */
  uint64_t alignment;      /* pack unpack repack: of entries and of ranges in the data file; 0: 64, repack: keep */
  uint64_t max_expansion;  /* pack unpack repack extract: output bytes per input byte; 0: 8 */
  const char* external_data_dir; /* pack unpack check replace extract: NULL: the model's folder */
  const char* data_file;         /* unpack: the name of one data file; NULL: all data is in the .onnx */
  const onnxar_added_file* add;  /* pack replace */
  size_t add_count;
  const char* const* remove; /* replace: names of side files and graphs */
  size_t remove_count;
  int (*progress)(void* context, uint64_t done, uint64_t total); /* pack unpack: bytes; not 0 cancels: c.callback */
  void* progress_context;
} onnxar_options;

/* File to file, as `onnxar VERB` does; outputs appear complete or not at all. `options` and `report` may be NULL.
 * Models in protobuf's text format are refused: code usage.no_text_parser. */
onnxar_status onnxar_pack(uint32_t abi, const char* model, const char* archive, const onnxar_options* options,
                          onnxar_report** report, onnxar_error** error);
onnxar_status onnxar_unpack(uint32_t abi, const char* archive, const char* model, const onnxar_options* options,
                            onnxar_report** report, onnxar_error** error);
/* ONNXAR_OK says that the check ran. The report, which must not be NULL, has the findings. */
onnxar_status onnxar_check(uint32_t abi, const char* path, const onnxar_options* options, onnxar_report** report,
                           onnxar_error** error);
onnxar_status onnxar_repack(uint32_t abi, const char* zip, const char* archive, const onnxar_options* options,
                            onnxar_report** report, onnxar_error** error);
/* `model` NULL: only the options `add` and `remove` are carried out. */
onnxar_status onnxar_replace(uint32_t abi, const char* archive, const char* model, const onnxar_options* options,
                             onnxar_report** report, onnxar_error** error);
onnxar_status onnxar_undo(uint32_t abi, const char* archive, const onnxar_options* options, onnxar_report** report,
                          onnxar_error** error);
onnxar_status onnxar_recover(uint32_t abi, const char* archive, const onnxar_options* options, onnxar_report** report,
                             onnxar_error** error);
onnxar_status onnxar_link(uint32_t abi, const char* archive, const char* model, const onnxar_options* options,
                          onnxar_report** report, onnxar_error** error);
/* `which`: a tensor's name, key or site, or a pattern of names; with a pattern, `output` ends in "/". */
onnxar_status onnxar_extract(uint32_t abi, const char* model, const char* which, const char* output,
                             const onnxar_options* options, onnxar_report** report, onnxar_error** error);

/* What a verb reports as a number; 0 if a verb has no such number. */
enum {
  ONNXAR_REPORT_FILE_BYTES = 1,        /* size of the output, or of the archive after the call */
  ONNXAR_REPORT_FILE_BYTES_BEFORE = 2, /* repack: of the input; replace undo recover: of the archive before the call */
  ONNXAR_REPORT_MODEL_BYTES = 3,       /* size of the ModelProto */
  ONNXAR_REPORT_DATA_BYTES = 4,        /* pack unpack: of data outside the ModelProto; replace: of the new entries */
  ONNXAR_REPORT_TENSORS = 5,           /* tensors with data outside the ModelProto; extract: tensors written */
  ONNXAR_REPORT_ENTRIES = 6            /* pack: that hold tensors; replace: new ones; repack undo recover: all */
};
/* What a check found, or what another verb warns about or notes. Pointers are valid as long as the report. */
typedef struct onnxar_finding {
  int32_t severity; /* 0: error, 1: warning, 2: note */
  int32_t has_offset;
  uint64_t offset;     /* in the file, if has_offset is not 0 */
  const char* code;    /* a stable id, as onnxar_error_code */
  const char* entry;   /* an entry, or the site of a tensor; "" if the finding has none */
  const char* message; /* what is wrong and what to do */
  const char* line;    /* severity, code, place and sentence on one line */
} onnxar_finding;

uint64_t onnxar_report_number(const onnxar_report* report, int32_t number);
uint64_t onnxar_finding_count(const onnxar_report* report);
onnxar_status onnxar_get_finding(const onnxar_report* report, uint64_t index, onnxar_finding* finding,
                                 onnxar_error** error);
/* 1 if no finding is an error, else 0. */
int onnxar_passed(const onnxar_report* report);
void onnxar_report_free(onnxar_report* report);

/* What an error says; valid until it is freed. For NULL: ONNXAR_OK, "", 0. */
onnxar_status onnxar_error_status(const onnxar_error* error);
/* A stable id, such as "zip.entry.overlap"; this interface adds "c.memory", "c.internal" and "c.callback". */
const char* onnxar_error_code(const onnxar_error* error);
/* What is wrong and what to do, as a sentence; and with path, entry and offset before it, on one line. */
const char* onnxar_error_message(const onnxar_error* error);
const char* onnxar_error_line(const onnxar_error* error);
/* The stable id of what to do, such as "output.overwrite", and a name or number for it; "" if there is none. */
const char* onnxar_error_hint(const onnxar_error* error);
const char* onnxar_error_hint_value(const onnxar_error* error);
/* The entry and the path in question; "" if there is none. */
const char* onnxar_error_entry(const onnxar_error* error);
const char* onnxar_error_path(const onnxar_error* error);
/* 1 if a place in the file is known, else 0. If 1, it is written to `offset`, which may be NULL. */
int onnxar_error_offset(const onnxar_error* error, uint64_t* offset);
void onnxar_error_free(onnxar_error* error);

#ifdef __cplusplus
}
#endif
/* NOLINTEND(modernize-*, readability-identifier-naming) */

#endif /* ONNXAR_ONNXAR_C_H_ */
