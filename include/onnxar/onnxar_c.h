/* ONNX archives from C, and from every language that can call C: reading, writing, and the command line's verbs.
 *
 *   onnxar_archive* archive = NULL;
 *   onnxar_error* error = NULL;
 *   if (onnxar_open_path(ONNXAR_C_ABI, "model.onnxar", NULL, &archive, &error) != ONNXAR_OK) {
 *     fprintf(stderr, "%s\n", onnxar_error_line(error));
 *     onnxar_error_free(error);
 *   }
 *
 * C99 only; library libonnxar_c (CMake: onnxar::c, pkg-config: onnxar-c). These rules hold for every function:
 *
 * Status    A function that can fail returns a status, and writes its results only if that is ONNXAR_OK. If `error` is
 *           not NULL, it is set to NULL or to a description of the failure, which the caller frees. ONNXAR_USAGE: a
 *           required argument is NULL, or `abi` differs. No C++ exception leaves a function.
 * Free      Functions that free, close, release or count accept NULL. Pointers that no function frees are views.
 * Views     of an archive    are valid until the last of onnxar_close, onnxar_owner_release and onnxar_tensors_free;
 *           of tensors       until onnxar_tensors_free, their bytes in entries as long as other views of the archive;
 *           of other things  until the object that they belong to is freed.
 * Text      A name with a length beside it does not end in NUL. Any other `const char*` does. Paths are bytes, on
 *           Windows UTF-8.
 * Threads   Several threads may call functions of one const archive or const list of tensors at once, and also
 *           onnxar_get_tensor_bytes, retain and release. Writers, keys, reports and errors are not synchronised.
 *           Callbacks run on the call's thread, except `release`. None may throw. Do not end a thread during a call.
 * ABI       A library refuses callers with another ONNXAR_C_ABI. Within one, functions may be added, and structs that
 *           begin with `struct_size` may get members at their end, where 0 keeps the older behaviour (docs/abi.md).
 * The file  If it is replaced by renaming, removed, or edited by this library, an open archive does not change. If it
 *           is shortened (as by `onnxar undo`), access to the bytes that were cut off raises SIGBUS. With `copy_in` an
 *           archive does not depend on its file. Offsets count from the archive's first byte.
 */
#ifndef ONNXAR_ONNXAR_C_H_
#define ONNXAR_ONNXAR_C_H_

/* Checks of C++ do not apply to C: NOLINTBEGIN(modernize-*, readability-identifier-naming) */

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(_WIN32)
typedef void* onnxar_native_handle; /* a HANDLE of an open file, which the library borrows */
#else
typedef int onnxar_native_handle; /* a descriptor, which the library borrows */
#endif

/* The ABI that a caller was compiled for: the first argument of every function that takes no handle and can fail. */
#define ONNXAR_C_ABI 1
#define ONNXAR_HAVE_TENSORS 1      /* added to this ABI: onnxar_tensors, except onnxar_lookup */
#define ONNXAR_HAVE_WRITING 1      /* added to this ABI: lookup, read_entry, is_archive, writers, verbs, hints */
#define ONNXAR_HAVE_GRAPHS 1       /* added to this ABI: several models in one archive, and the option `graph` */
#define ONNXAR_HAVE_DIGEST 1       /* added to this ABI: onnxar_digest */
#define ONNXAR_HAVE_STORED 1       /* added to this ABI: onnxar_stored */
#define ONNXAR_HAVE_EDITING 1      /* added to this ABI: edit, begin, keys_for, get_tensor_entry, pack_memory */
#define ONNXAR_TERMINATED SIZE_MAX /* as a length of text: up to its NUL */
#define ONNXAR_TO_END UINT64_MAX   /* as a length of bytes: up to the end */

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
typedef struct onnxar_owner onnxar_owner;     /* a share in the memory of an archive */
typedef struct onnxar_error onnxar_error;     /* a failure */
typedef struct onnxar_tensors onnxar_tensors; /* the list of a model's tensors */
typedef struct onnxar_digest onnxar_digest;   /* of an archive's content */
typedef struct onnxar_stored onnxar_stored;   /* a model as ONNX Runtime optimised it */
typedef struct onnxar_writer onnxar_writer;   /* an archive that is being written or edited */
typedef struct onnxar_keys onnxar_keys;       /* makes keys for tensors */
typedef struct onnxar_report onnxar_report;   /* what a verb did */

typedef struct onnxar_bytes { /* a view; numbers of tensors are little-endian on every host */
  const void* data;
  size_t size;
} onnxar_bytes;

/* When the pages of a mapping are read: each at its first access; in the background; before the call returns. */
enum { ONNXAR_PREFETCH_NONE = 0, ONNXAR_PREFETCH_WILL_NEED = 1, ONNXAR_PREFETCH_POPULATE = 2 };

/* How to open. Each struct of options may be NULL, which means zeros in all members except `struct_size`. */
typedef struct onnxar_open_options {
  size_t struct_size;          /* sizeof(onnxar_open_options) */
  uint64_t max_entries;        /* 0: 2^20 */
  uint64_t max_directory_size; /* bytes; 0: 256 MiB */
  uint64_t max_model_size;     /* bytes; 0: 2^31 - 1 */
  int32_t prefetch;            /* ONNXAR_PREFETCH_*, of the whole file */
  int32_t copy_in;             /* not 0: read the file into memory instead of mapping it */
  uint64_t num_threads;        /* threads that read with copy_in; 0: one for each core */
} onnxar_open_options;

typedef struct onnxar_entry {
  uint64_t index;
  const char* name; /* UTF-8 */
  size_t name_length;
  uint64_t size; /* bytes */
  uint32_t crc32;
  uint32_t reserved; /* 0 */
} onnxar_entry;

typedef struct onnxar_location {
  uint64_t offset;    /* of the entry's first byte, from the archive's first byte; a multiple of `alignment` */
  uint64_t alignment; /* as recorded; 64 without a record */
} onnxar_location;

/* Return the version at run time, as "1.0.0" and as major * 10000 + minor * 100 + patch; the ONNXAR_C_ABI. */
const char* onnxar_version(void);
uint32_t onnxar_version_number(void);
uint32_t onnxar_c_abi(void);

/* --- opening ------------------------------------------------------------------------------------------------------ */

/* Opens and maps a file. Cost: O(directory). ONNXAR_USAGE: options of a later version. ONNXAR_IO: the file cannot be
 * read; code archive.busy: it is being edited, try again. ONNXAR_FORMAT: it is not an archive. */
onnxar_status onnxar_open_path(uint32_t abi, const char* path, const onnxar_open_options* options,
                               onnxar_archive** archive, onnxar_error** error);

/* Opens a part of an open file: `offset` is a multiple of 64, `length` may be ONNXAR_TO_END. The caller keeps the
 * descriptor, and may close it after the call. */
onnxar_status onnxar_open_descriptor(uint32_t abi, onnxar_native_handle descriptor, uint64_t offset, uint64_t length,
                                     const onnxar_open_options* options, onnxar_archive** archive,
                                     onnxar_error** error);

/* Opens memory, which should begin on a page. `release(context)` is called once, on any thread, when the archive is
 * closed and all its owners and lists of tensors are freed, not if opening fails. If it is NULL, you keep the bytes. */
onnxar_status onnxar_open_memory(uint32_t abi, const void* data, size_t size, void (*release)(void* context),
                                 void* context, const onnxar_open_options* options, onnxar_archive** archive,
                                 onnxar_error** error);

/* Sets `is_archive` to 1 if onnxar_open_path accepts the file, else to 0. ONNXAR_IO: as above. */
onnxar_status onnxar_is_archive(uint32_t abi, const char* path, int* is_archive, onnxar_error** error);

/* Closes an archive, which must not be used after this. Its views stay valid while an owner or a list of tensors
 * exists. */
void onnxar_close(onnxar_archive* archive);

/* --- entries ------------------------------------------------------------------------------------------------------ */

/* Returns the number of entries, including the model; 0 for NULL. */
uint64_t onnxar_count(const onnxar_archive* archive);

/* Gets entry `index` in the order of the file; the last one is the model. Code usage.no_such_entry: there is none. */
onnxar_status onnxar_get_entry(const onnxar_archive* archive, uint64_t index, onnxar_entry* entry,
                               onnxar_error** error);

/* Gets the entry of exactly this name. Cost: O(1). Code usage.no_such_entry: the archive has none. */
onnxar_status onnxar_find(const onnxar_archive* archive, const char* name, size_t name_length, onnxar_entry* entry,
                          onnxar_error** error);

/* Get where an entry's bytes are; the bytes. The first call checks the local header; ONNXAR_FORMAT: it is wrong. */
onnxar_status onnxar_locate(const onnxar_archive* archive, uint64_t index, onnxar_location* location,
                            onnxar_error** error);
onnxar_status onnxar_get_bytes(const onnxar_archive* archive, uint64_t index, onnxar_bytes* bytes,
                               onnxar_error** error);

/* Copies an entry and compares the CRC-32 of the copy. ONNXAR_USAGE: `size` is not the entry's. Code zip.data.crc: the
 * bytes are damaged. After an error the content of `buffer` is undefined. */
onnxar_status onnxar_read_entry(const onnxar_archive* archive, uint64_t index, void* buffer, size_t size,
                                onnxar_error** error);

/* Gets the serialised ModelProto. */
onnxar_status onnxar_model(const onnxar_archive* archive, onnxar_bytes* bytes, onnxar_error** error);

/* Gets the bytes that a tensor's external_data names: `length` bytes (ONNXAR_TO_END without a length) at `offset` (0
 * without one) of the entry `location`. ONNXAR_FORMAT: the entry does not exist, or the range extends beyond it. */
onnxar_status onnxar_resolve(const onnxar_archive* archive, const char* location, size_t location_length,
                             uint64_t offset, uint64_t length, onnxar_bytes* bytes, onnxar_error** error);

/* Asks the system to read an entry ahead, or waits until all of it is in memory. */
onnxar_status onnxar_prefetch(const onnxar_archive* archive, uint64_t index, int32_t prefetch, onnxar_error** error);

/* Reads all bytes of the entry and compares their CRC-32. Code zip.data.crc: the bytes are damaged. */
onnxar_status onnxar_verify(const onnxar_archive* archive, uint64_t index, onnxar_error** error);

/* Gets a new share in the memory of the archive: its views stay valid until all shares are released, even after
 * onnxar_close. Without `release` in onnxar_open_memory it keeps nothing alive. */
onnxar_status onnxar_get_owner(const onnxar_archive* archive, onnxar_owner** owner, onnxar_error** error);
void onnxar_owner_retain(onnxar_owner* owner);
void onnxar_owner_release(onnxar_owner* owner);

/* --- several models ----------------------------------------------------------------------------------------------- */

/* Gets the first additional graph (an entry NAME.onnx) from the index `from` on. Pass 0 first, and then the index of
 * the last result plus 1. Code usage.no_such_entry: no more graphs. */
onnxar_status onnxar_next_graph(const onnxar_archive* archive, uint64_t from, onnxar_entry* entry,
                                onnxar_error** error);

/* Opens a view of the archive whose model is the named graph. `name` may lack ".onnx", and may be the model's own. Both
 * share the memory, and are closed separately. Code usage.no_such_entry. */
onnxar_status onnxar_open_graph(const onnxar_archive* archive, const char* name, size_t name_length,
                                onnxar_archive** graph, onnxar_error** error);

/* --- tensors, without protobuf ------------------------------------------------------------------------------------ */

typedef struct onnxar_tensor {
  const char* name; /* TensorProto.name, unchanged */
  size_t name_length;
  const char* site; /* where in the model: graph.initializer[3], graph.node[7].attr.value */
  size_t site_length;
  const int64_t* dims;
  size_t dims_count;
  int32_t data_type; /* TensorProto.DataType */
  int32_t reserved;  /* 0 */
} onnxar_tensor;

/* Lists all tensors of the model, at every site, in the order of the model. It shares the archive's memory (see Views).
 * Cost: O(model); reads no weight. ONNXAR_FORMAT: the model is damaged or ambiguous. */
onnxar_status onnxar_get_tensors(const onnxar_archive* archive, onnxar_tensors** tensors, onnxar_error** error);
void onnxar_tensors_free(onnxar_tensors* tensors);
uint64_t onnxar_tensor_count(const onnxar_tensors* tensors);

/* Gets a tensor. Code usage.no_such_tensor. */
onnxar_status onnxar_get_tensor(const onnxar_tensors* tensors, uint64_t index, onnxar_tensor* tensor,
                                onnxar_error** error);

/* Gets the raw bytes, from an entry or the model; typed values are decoded, and elements below 8 bits packed.
 * ONNXAR_FORMAT: a link without a target, or data whose length does not fit type and dims; code onnx.tensor.strings. */
onnxar_status onnxar_get_tensor_bytes(onnxar_tensors* tensors, uint64_t index, onnxar_bytes* bytes,
                                      onnxar_error** error);

/* Gets the entry that holds the tensor's data, perhaps among other data. If the data is in the model, that is the entry
 * of the model (or of the graph, in a view by onnxar_open_graph). Reads no data. ONNXAR_FORMAT: as above. */
onnxar_status onnxar_get_tensor_entry(const onnxar_tensors* tensors, uint64_t index, onnxar_entry* entry,
                                      onnxar_error** error);

/* Finds a tensor by name; of several, the initializer of the main graph. Code usage.no_such_tensor, with similar names
 * in the message, or usage.ambiguous_tensor, with the sites of several. Cost: O(1); O(tensors) for a failure. */
onnxar_status onnxar_lookup(const onnxar_tensors* tensors, const char* name, size_t name_length, uint64_t* index,
                            onnxar_error** error);

/* --- digest ------------------------------------------------------------------------------------------------------- */

/* Computes one SHA-256 for the names and bytes of all entries except the side file onnxar.sig (spec/digest.md), with
 * `threads` threads (0: one for each core). Code zip.data.crc: the bytes are damaged; io.changed: try again. */
onnxar_status onnxar_get_digest(const onnxar_archive* archive, uint64_t threads, onnxar_digest** digest,
                                onnxar_error** error);

/* Return the digest as 64 hexadecimal digits; its manifest, a line for each entry as in sha256sum. "" for NULL. */
const char* onnxar_digest_hex(const onnxar_digest* digest);
const char* onnxar_digest_manifest(const onnxar_digest* digest);
void onnxar_digest_free(onnxar_digest* digest);

/* --- sessions of ONNX Runtime that start from a stored model ------------------------------------------------------ */

typedef struct onnxar_session_source {
  onnxar_bytes model; /* for CreateSessionFromArray */
  const char* folder; /* for the session option `session.model_external_initializers_file_folder_path` */
  const char* output; /* for SetOptimizedModelFilePath; "": ONNX Runtime must not write the model */
  const char* why;    /* why it cannot be stored; or "" */
  int32_t is_stored;  /* not 0: it is optimised already, so call SetSessionGraphOptimizationLevel(ORT_DISABLE_ALL) */
  int32_t reserved;   /* 0 */
} onnxar_session_source;

/* Opens the model of `archive` (or its `graph`, unless that is NULL) as ONNX Runtime stored it in `file`, else the
 * model itself. `runtime` is the text of GetVersionString and GetBuildInfoString, `settings` names all other settings
 * of the session. docs/onnxruntime.md says who may write to `file`, and on what else the stored model depends. Fails
 * only with errors of the archive. If `output` is not "", set also these options for the session:
 *   session.optimized_model_external_initializers_file_name = data
 *   session.optimized_model_external_initializers_min_size_in_bytes = 1024
 *   session.save_external_prepacked_constant_initializers = 1 */
onnxar_status onnxar_open_stored(uint32_t abi, const char* file, const char* archive, const char* graph,
                                 const char* runtime, const char* settings, onnxar_stored** stored,
                                 onnxar_session_source* source, onnxar_error** error);

/* Call it each time ONNX Runtime has made a session from `source`. Code io.changed: the archive or `file` was replaced
 * in the meantime; do not use the session. If the session wrote the model, this call stores it and sets `source` to
 * the stored model: make the session again from that. After other errors you may keep the session that wrote it. */
onnxar_status onnxar_keep_stored(onnxar_stored* stored, onnxar_session_source* source, onnxar_error** error);

/* Frees the views of `source`, which sessions do not need. */
void onnxar_stored_free(onnxar_stored* stored);

/* --- writing ------------------------------------------------------------------------------------------------------ */

typedef struct onnxar_writer_options {
  size_t struct_size;      /* sizeof(onnxar_writer_options) */
  uint64_t alignment;      /* of every entry, a power of two from 64 to 32768; 0: 64 */
  uint64_t threads;        /* for writing and checksums; 0: one for each core */
  int32_t overwrite;       /* not 0: replace an existing file */
  int32_t no_sync;         /* not 0: do not sync file and folder */
  int32_t no_verify_model; /* not 0: onnxar_finish does not verify the model and its links */
  int32_t reserved;        /* 0 */
} onnxar_writer_options;

/* Fills the front of `buffer` and returns the number of bytes; 0 ends the stream. If it returns ONNXAR_READ_FAILED, the
 * call that reads fails with ONNXAR_USAGE, code c.callback. */
typedef size_t (*onnxar_read_callback)(void* context, void* buffer, size_t size);
#define ONNXAR_READ_FAILED SIZE_MAX
/* Begins an archive. onnxar_finish gives the file its name, so readers never see half an archive. After a failure
 * (except for a NULL argument) all later calls fail: code usage.writer_failed. Code output.exists: see `overwrite`. */
onnxar_status onnxar_create(uint32_t abi, const char* path, const onnxar_writer_options* options,
                            onnxar_writer** writer, onnxar_error** error);

/* Begins an edit of an archive, which only appends: old weights are neither read nor moved. The functions below add
 * entries and graphs. onnxar_finish adds a model that names old and new entries, and completes the edit (onnxar_undo
 * takes it back). A writer that fails or is freed earlier leaves the archive unchanged. `before`, unless NULL, is set
 * to the archive before the edit; close it and free its lists, on Windows before the writer is freed. Code
 * archive.busy: another edit is in progress; while bytes are appended, opening also fails with it. `options` must not
 * set alignment and overwrite. */
onnxar_status onnxar_edit(uint32_t abi, const char* path, const onnxar_writer_options* options, onnxar_writer** writer,
                          onnxar_archive** before, onnxar_error** error);

/* Removes a side file, a graph, or an entry that no tensor names. No weight may follow it. To replace it, then add it.
 * Call it before all calls that write. Code usage.no_such_entry; usage.argument: it cannot be removed in place. */
onnxar_status onnxar_remove(onnxar_writer* writer, const char* name, size_t name_length, onnxar_error** error);

/* Reserves disk space for a file of `bytes` bytes, so that a full disk is an error at once. */
onnxar_status onnxar_reserve(onnxar_writer* writer, uint64_t bytes, onnxar_error** error);

/* Adds an entry from memory, or `size` bytes of a stream. Its name is the location in a tensor's external_data. Add
 * weights before side files, and these before graphs. Otherwise: code usage.argument, here or in onnxar_finish. */
onnxar_status onnxar_add(onnxar_writer* writer, const char* name, size_t name_length, const void* data, size_t size,
                         onnxar_error** error);
onnxar_status onnxar_add_stream(onnxar_writer* writer, const char* name, size_t name_length, uint64_t size,
                                onnxar_read_callback read, void* context, onnxar_error** error);

/* Adds an entry of `size` bytes in pieces, with any number of calls of onnxar_write. The file is the same as with
 * onnxar_add. Code usage.argument: another call before onnxar_end; io.source_size: more or fewer bytes. */
onnxar_status onnxar_begin(onnxar_writer* writer, const char* name, size_t name_length, uint64_t size,
                           onnxar_error** error);
onnxar_status onnxar_write(onnxar_writer* writer, const void* data, size_t size, onnxar_error** error);
onnxar_status onnxar_end(onnxar_writer* writer, onnxar_error** error);

/* Adds another model, a serialised ModelProto, as the graph NAME.onnx. `name` may lack the ".onnx". */
onnxar_status onnxar_add_graph(onnxar_writer* writer, const char* name, size_t name_length, const void* model,
                               size_t size, onnxar_error** error);

/* Writes the serialised ModelProto, verifies its links, and publishes the file. The caller still frees the writer. */
onnxar_status onnxar_finish(onnxar_writer* writer, const void* model, size_t size, onnxar_error** error);

/* Frees a writer. An archive that was not finished leaves no file. */
void onnxar_writer_free(onnxar_writer* writer);

/* Creates a maker of keys (names of entries) for tensors: C identifiers that differ by more than ASCII case. */
onnxar_status onnxar_keys_create(uint32_t abi, onnxar_keys** keys, onnxar_error** error);

/* Creates a maker for an edit of this archive: the keys differ from the names of its entries and of its file. */
onnxar_status onnxar_keys_for(const onnxar_archive* archive, onnxar_keys** keys, onnxar_error** error);

/* Makes a new key for a tensor of this name. */
onnxar_status onnxar_make_key(onnxar_keys* keys, const char* tensor_name, size_t name_length, const char** key,
                              onnxar_error** error);
void onnxar_keys_free(onnxar_keys* keys);

/* --- verbs -------------------------------------------------------------------------------------------------------- */

/* A file that becomes an entry beside the weights. Its name is not a C identifier, since those are keys of tensors. */
typedef struct onnxar_added_file {
  const char* name;
  const char* path;
} onnxar_added_file;

/* Options of verbs. Each comment names the verbs that take the member; all others refuse it unless it is 0:
 * ONNXAR_USAGE. Flags are 0 or not 0. */
typedef struct onnxar_options {
  size_t struct_size;      /* sizeof(onnxar_options) */
  int32_t overwrite;       /* pack unpack repack recover link extract: replace outputs, or discard damaged edits */
  int32_t no_sync;         /* all except check: do not sync files and folders */
  int32_t dry_run;         /* all except check: find the faults, write nothing */
  int32_t checksum_sha1;   /* pack: links have the SHA-1 of their data */
  int32_t file_per_tensor; /* unpack: a data file for each tensor; not with data_file */
  int32_t append_external; /* replace: data files of the new model become entries, unless an entry has their name */
  int32_t foreign_zips;    /* pack unpack: also read zip files that are not archives, such as PyTorch's */
  int32_t raw;             /* extract: raw bytes, not .npy */
  int32_t data;            /* check: also compare all CRC-32s and checksums */
  int32_t strict;          /* check: warnings are errors */
  uint64_t threads;        /* pack unpack check repack; 0: one for each core */
  uint64_t threshold;      /* pack unpack replace: bytes from which data leaves the ModelProto; 0: 1024 */
  uint64_t alignment;      /* pack unpack repack: of entries and of ranges in the data file; 0: 64, repack: keep */
  uint64_t max_expansion;  /* pack unpack repack extract: output bytes per input byte; 0: 8 */
  const char* external_data_dir; /* pack unpack check replace extract: NULL: the model's folder */
  const char* data_file;         /* unpack: the name of one data file; NULL: all data is in the .onnx */
  const onnxar_added_file* add;  /* pack replace */
  size_t add_count;
  const char* const* remove; /* replace: names of side files and graphs to remove */
  size_t remove_count;
  /* Called with numbers of bytes. A result other than 0 cancels the call: c.callback. */
  int (*progress)(void* context, uint64_t done, uint64_t total); /* pack unpack check repack replace extract */
  void* progress_context;
  const char* graph; /* pack unpack replace link extract: which graph of the archive is taken, or replaced */
} onnxar_options;

/* Each verb does what the command of that name does, from file to file. Outputs appear complete or not at all. `report`
 * may be NULL, except for onnxar_check. Models in protobuf's text format are refused: code usage.no_text_parser. */
onnxar_status onnxar_pack(uint32_t abi, const char* model, const char* archive, const onnxar_options* options,
                          onnxar_report** report, onnxar_error** error);

/* Packs a model in memory: an archive, or a ModelProto, whose external data is in external_data_dir. */
onnxar_status onnxar_pack_memory(uint32_t abi, const void* model, size_t size, const char* archive,
                                 const onnxar_options* options, onnxar_report** report, onnxar_error** error);

/* Packs several models: the first becomes the model, each other one a graph, and equal tensors share an entry. `name`
 * is the name of the graph; NULL: that of the file. */
onnxar_status onnxar_pack_models(uint32_t abi, const onnxar_added_file* models, size_t count, const char* archive,
                                 const onnxar_options* options, onnxar_report** report, onnxar_error** error);
onnxar_status onnxar_unpack(uint32_t abi, const char* archive, const char* model, const onnxar_options* options,
                            onnxar_report** report, onnxar_error** error);

/* ONNXAR_OK means that the check ran; the report has its findings. */
onnxar_status onnxar_check(uint32_t abi, const char* path, const onnxar_options* options, onnxar_report** report,
                           onnxar_error** error);
onnxar_status onnxar_repack(uint32_t abi, const char* zip, const char* archive, const onnxar_options* options,
                            onnxar_report** report, onnxar_error** error);

/* `model` may be NULL: then `add` or `remove` must be set, and graph, append_external, threshold and external_data_dir
 * must not. */
onnxar_status onnxar_replace(uint32_t abi, const char* archive, const char* model, const onnxar_options* options,
                             onnxar_report** report, onnxar_error** error);

/* Replaces the model by a ModelProto in memory. */
onnxar_status onnxar_replace_memory(uint32_t abi, const char* archive, const void* model, size_t size,
                                    const onnxar_options* options, onnxar_report** report, onnxar_error** error);
onnxar_status onnxar_undo(uint32_t abi, const char* archive, const onnxar_options* options, onnxar_report** report,
                          onnxar_error** error);
onnxar_status onnxar_recover(uint32_t abi, const char* archive, const onnxar_options* options, onnxar_report** report,
                             onnxar_error** error);
onnxar_status onnxar_link(uint32_t abi, const char* archive, const char* model, const onnxar_options* options,
                          onnxar_report** report, onnxar_error** error);

/* `which` is a tensor's name, key or site, or a pattern of names; with a pattern, `output` ends in "/". */
onnxar_status onnxar_extract(uint32_t abi, const char* model, const char* which, const char* output,
                             const onnxar_options* options, onnxar_report** report, onnxar_error** error);

/* The numbers of a report; 0 for a verb that does not have the number. */
enum {
  ONNXAR_REPORT_FILE_BYTES = 1,        /* size of the output, or of the archive after the call */
  ONNXAR_REPORT_FILE_BYTES_BEFORE = 2, /* repack: of the input; replace undo recover: of the archive before the call */
  ONNXAR_REPORT_MODEL_BYTES = 3,       /* size of the ModelProto */
  ONNXAR_REPORT_DATA_BYTES = 4,        /* pack unpack: of data outside the ModelProto; replace: of the new entries */
  ONNXAR_REPORT_TENSORS = 5,           /* tensors with data outside the ModelProto; extract: tensors written */
  ONNXAR_REPORT_ENTRIES = 6,           /* pack: that hold tensors; replace: new ones; repack undo recover: all */
  ONNXAR_REPORT_DISCARDS_STATES = 7    /* replace: 1 if no entry stays in place, so `undo` cannot take the edit back */
};

/* A result of onnxar_check, or a warning or note of another verb. */
typedef struct onnxar_finding {
  int32_t severity; /* 0: error, 1: warning, 2: note */
  int32_t has_offset;
  uint64_t offset;     /* in the file, if has_offset is not 0 */
  const char* code;    /* a stable id, as onnxar_error_code */
  const char* entry;   /* an entry, or the site of a tensor; or "" */
  const char* message; /* what is wrong; what to do */
  const char* line;    /* severity, code, place and message */
} onnxar_finding;

uint64_t onnxar_report_number(const onnxar_report* report, int32_t number);
uint64_t onnxar_finding_count(const onnxar_report* report);
onnxar_status onnxar_get_finding(const onnxar_report* report, uint64_t index, onnxar_finding* finding,
                                 onnxar_error** error);

/* Returns 1 if there are no errors among the findings, else 0. */
int onnxar_passed(const onnxar_report* report);
void onnxar_report_free(onnxar_report* report);

/* --- errors ------------------------------------------------------------------------------------------------------- */

/* For NULL these return ONNXAR_OK, "" and 0. Text that does not apply is "". This interface adds the codes "c.memory",
 * "c.internal" and "c.callback" to those of error_codes.inc. The ids of hints are in error_hints.inc. */
onnxar_status onnxar_error_status(const onnxar_error* error);
const char* onnxar_error_code(const onnxar_error* error);       /* a stable id, such as "zip.entry.overlap" */
const char* onnxar_error_message(const onnxar_error* error);    /* what is wrong; what to do, as C calls */
const char* onnxar_error_line(const onnxar_error* error);       /* path, entry and offset, then the message */
const char* onnxar_error_hint(const onnxar_error* error);       /* what to do as a stable id: "output.overwrite" */
const char* onnxar_error_hint_value(const onnxar_error* error); /* the name or number that the hint mentions */
const char* onnxar_error_entry(const onnxar_error* error);      /* the entry in question */
const char* onnxar_error_path(const onnxar_error* error);       /* the file in question */

/* Returns 1 if a place in the file is known, else 0. If 1, writes it to `offset`, which may be NULL. */
int onnxar_error_offset(const onnxar_error* error, uint64_t* offset);
void onnxar_error_free(onnxar_error* error);

#ifdef __cplusplus
}
#endif

/* NOLINTEND(modernize-*, readability-identifier-naming) */
#endif /* ONNXAR_ONNXAR_C_H_ */
