/* onnxar_reader: see onnxar_reader.h, which also has the licence.
 *
 * The order is that of the specification: the end of the file, the directory, names, places, local headers, the wire
 * format, tensors, superseded states, remarks. Each refusal names its rule, such as "E3", by which the table below
 * finds the code and the words. Functions return 0, or -1 after a refusal, unless their comments say otherwise. */
#if !defined(_WIN32) && !defined(OAR_NO_STDIO) && !defined(OAR_NO_MMAP)
#ifndef _POSIX_C_SOURCE
#define _POSIX_C_SOURCE 200809L
#endif
#ifndef _FILE_OFFSET_BITS
#define _FILE_OFFSET_BITS 64 /* files of more than 2 GiB on 32 bits */
#endif
#endif

#include "onnxar_reader.h"

#include <stdlib.h>
#include <string.h>

#ifndef OAR_NO_STDIO
#include <errno.h>
#ifdef OAR_NO_MMAP
#include <stdio.h>
#elif defined(_WIN32)
#define WIN32_LEAN_AND_MEAN
#include <windows.h>
#else
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#endif
#endif

/* --- The rules ---------------------------------------------------------------------------------------------------- */

static const struct {
  const char *ids, *code, *breach;
} rules[] = {
    {"E1", "zip.end.missing", "the file does not end in an end record"},
    {"E2", "zip.end.not_last", "something follows the end record"},
    {"E3", "zip.end.comment", "there is an archive comment"},
    {"E4", "zip.end.multi_disk", "the end records state more than one disk"},
    {"E5", "zip.zip64.locator", "there is no zip64 locator that points to the bytes before itself"},
    {"E6", "zip.zip64.record", "there is no zip64 end record of 56 bytes and version 10 to 45"},
    {"E7", "zip.zip64.disagree", "the end record and the zip64 end record disagree"},
    {"E8", "zip.end.directory_bounds", "the directory does not end where the end records begin"},
    {"E9", "zip.directory.empty", "there is no entry"},
    {"E10", "zip.directory.count", "the stated number of entries does not fill the directory"},
    {"E11", "zip.limit.entries", "there are more entries than the limit"},
    {"E12", "zip.limit.directory", "the directory is larger than the limit"},
    {"D1", "zip.directory.header", "there is no header here that lies in the directory"},
    {"D2", "zip.entry.encrypted", "the entry is encrypted"},
    {"D3", "zip.entry.descriptor", "the entry has a data descriptor"},
    {"D4", "zip.entry.flags", "a flag is set that no archive has"},
    {"D5", "zip.entry.method", "the entry is not stored"},
    {"D6 L13", "zip.entry.version", "the version needed is not from 10 to 45"},
    {"D7", "zip.entry.disk", "the entry is on another disk"},
    {"D8", "zip.entry.comment", "the entry has a comment"},
    {"D9", "zip.entry.attributes", "the attributes are not those of a regular file"},
    {"D10 L4", "zip.extra.malformed", "the extra fields do not fill their room"},
    {"D11 L5", "zip.extra.unknown", "there is an extra field that archives do not have here"},
    {"D12 L6", "zip.extra.duplicate", "an extra field is there twice, or a second padding record"},
    {"D13", "zip.zip64.extra", "the zip64 field does not hold the values that it should"},
    {"D14", "zip.entry.sizes", "size and compressed size differ"},
    {"D15", "zip.entry.empty_crc", "the CRC-32 of no bytes is not 0"},
    {"D16", "zip.extra.alignment", "the alignment is not a power of two from 64 to 16384 in 2 bytes"},
    {"N1", "zip.name.empty", "the name is empty"},
    {"N2", "zip.name.too_long", "the name has more than 1024 bytes"},
    {"N6", "zip.name.absolute", "the name begins with a slash"},
    {"N8", "zip.name.directory", "the name is that of a folder"},
    {"N9", "zip.name.part", "a part of the name is empty, `.` or `..`"},
    {"N10", "zip.name.duplicate", "another entry has the same name"},
    {"N11", "zip.name.folded", "the name differs from another one only in the case of letters"},
    {"N12", "zip.name.prefix", "another entry's name is a folder of this name"},
    {"N13", "archive.name.reserved", "the name is reserved: the archive needs a newer reader"},
    {"N14", "zip.name.character", "the name has a character that tools treat differently"},
    {"N15", "zip.name.part_too_long", "a part of the name has more than 255 bytes"},
    {"N16", "zip.name.part_end", "a part of the name ends in a dot or a space"},
    {"N17", "zip.name.device", "a part of the name is a device of Windows"},
    {"P1", "zip.entry.first_offset", "the first entry is not at offset 0"},
    {"P2", "zip.entry.order", "the entry lies before the one that is listed before it"},
    {"P3", "zip.entry.overlap", "the entry overlaps the next"},
    {"P4", "zip.entry.bounds", "the entry does not end before the directory"},
    {"P5", "zip.entry.gap", "the bytes after the data are not a superseded model"},
    {"P6", "archive.model.missing", "there is no entry __MODEL_PROTO"},
    {"P7", "archive.model.not_last", "__MODEL_PROTO is not the last entry"},
    {"P8 G2", "archive.model.too_large", "the model is larger than the limit, or than 2^31 - 1 bytes"},
    {"L1", "zip.local.header", "there is no local header here that ends before what follows"},
    {"L2", "zip.local.name", "the local header has another name"},
    {"L3", "zip.local.field", "a field of the local header differs from the directory's"},
    {"L7", "zip.zip64.extra", "the local header lacks a zip64 field of both sizes"},
    {"L8", "zip.local.size", "a size in the local header differs from the directory's"},
    {"L10", "zip.padding.record", "the padding is not an alignment and zeros"},
    {"L11", "zip.padding.alignment", "the padding record states an alignment that it may not state"},
    {"L12", "zip.padding.alignment", "the data is not at a multiple of its alignment"},
    {"L14", "zip.extra.alignment", "the local header does not repeat the alignment of the directory"},
    {"L15", "zip.local.header", "the local header has more than 65535 bytes"},
    {"T1", "zip.data.crc", "the data has another CRC-32 than stated"},
    {"T2", "archive.tail.prefix", "the superseded bytes after the data do not end in an archive"},
    {"M1", "onnx.model.invalid", "this is not an ONNX model: it has no graph"},
    {"M2", "wire.truncated", "a field does not end in its message"},
    {"M3", "wire.varint", "a varint has more than 10 bytes or 64 bits"},
    {"M4", "wire.tag", "a tag is too long, or its field number is out of range"},
    {"M5", "wire.type", "a field has a wire type other than 0, 1, 2 and 5"},
    {"M6", "wire.depth", "messages nest more than 100 deep"},
    {"M7", "wire.repeated_message", "a message is given twice that may be there once"},
    {"M8", "onnx.external_data.no_location", "the linked tensor has no location"},
    {"M9", "onnx.external_data.missing", "there is no entry of the name that the location states"},
    {"M10", "onnx.external_data.duplicate_key", "a key of external_data is there twice"},
    {"M11", "onnx.external_data.bad_offset", "the offset is not a plain decimal number"},
    {"M12", "onnx.external_data.bad_length", "the length is not a plain decimal number"},
    {"M13", "onnx.external_data.out_of_range", "the tensor's data does not lie in the entry"},
    {"M14", "onnx.external_data.marker", "the location names memory of a process"},
    {"M15", "onnx.external.string", "a tensor of strings is linked"},
    {"M16", "onnx.external.data_beside", "the linked tensor also has data of its own"},
    {"M17", "onnx.tensor.dims", "a dimension is negative, or there are too many dimensions, elements or bytes"},
    {"M18", "onnx.tensor.length", "the data is not as long as type and dimensions call for"},
    {"M19", "onnx.tensor.no_type", "the tensor has no data type"},
    {"M20", "onnx.tensor.data_beside", "the tensor has values in two fields"},
    {"M21", "onnx.tensor.wrong_field", "the values are in a field of other data types"},
    {"G3", "archive.graph.link_marker", "the metadata of the graph is that of a link"},
    {"G4", "archive.graph.name", "the model's name is given twice, cannot be a graph's, or is taken"},
};

/* --- The state of a reader ---------------------------------------------------------------------------------------- */

enum {
  END_SIZE = 22,
  LOCATOR_SIZE = 20,
  ZIP64_END_SIZE = 56,
  HEADER_SIZE = 46, /* of a directory header without name, extra fields and comment */
  LOCAL_SIZE = 30,
  LONGEST_LOCAL = 65535, /* L15 */
  LONGEST_NAME = 1024,
  MOST_DIMS = 1024,
  DEEPEST = 100,
  PIECE = 16384 /* bytes that are read at once where all are looked at */
};
static const uint32_t NONE_16 = 0xFFFF, NONE_32 = 0xFFFFFFFF; /* sentinels */
static const uint64_t MODEL_LIMIT = 0x7FFFFFFF;
static const char MODEL_NAME[] = "__MODEL_PROTO";
static const char GRAPH_ENDING[] = ".onnx";

struct entry {
  const unsigned char* header; /* in the directory */
  uint64_t offset, size;       /* of the local header; of the data */
  uint32_t proof;              /* 0: not used yet; else how far from the local header the data is */
  uint32_t alignment;          /* as the directory states it; or 0 */
};

/* What the end records state. */
struct end {
  uint64_t count, size, offset; /* of the entries; of the directory */
  int has_zip64;
};

struct onnxar_reader {
  const unsigned char* memory; /* the file; NULL if `source` reads it */
  onnxar_reader_source source; /* its size counts in both cases */
  onnxar_reader_options options;
  struct end end;
  const unsigned char* directory;
  unsigned char* own_directory; /* of a file that is read */
  struct entry* entries;
  size_t count;
  uint32_t* table; /* of names without case: index + 1 of an entry, or 0; of a power of two */
  unsigned table_bits;
  uint32_t hash_key;
  void* mapping; /* to be unmapped or released, if it is not NULL */
};

/* A stored proof may be read while another thread stores the same one: all writers write the same number. */
#if defined(__GNUC__) || defined(__clang__)
static uint32_t load_proof(const uint32_t* proof) { return __atomic_load_n(proof, __ATOMIC_RELAXED); }
static void store_proof(uint32_t* proof, uint32_t value) { __atomic_store_n(proof, value, __ATOMIC_RELAXED); }
#else
static uint32_t load_proof(const uint32_t* proof) { return *(const volatile uint32_t*)proof; }
static void store_proof(uint32_t* proof, uint32_t value) { *(volatile uint32_t*)proof = value; }
#endif

static uint32_t u16(const unsigned char* at) { return (uint32_t)at[0] | (uint32_t)at[1] << 8; }
static uint32_t u32(const unsigned char* at) { return u16(at) | u16(at + 2) << 16; }
static uint64_t u64(const unsigned char* at) { return u32(at) | (uint64_t)u32(at + 4) << 32; }

static int is_signed(const unsigned char* at, const char* signature) { return memcmp(at, signature, 4) == 0; }

static const unsigned char* name_of(const struct entry* entry) { return entry->header + HEADER_SIZE; }
static size_t name_length(const struct entry* entry) { return u16(entry->header + 28); }
static uint32_t crc_of(const struct entry* entry) { return u32(entry->header + 16); }
static int is_last(const onnxar_reader* r, size_t index) { return index + 1 == r->count; }

/* Where the next local header is, or the directory after the last entry. */
static uint64_t following(const onnxar_reader* r, size_t index) {
  return is_last(r, index) ? r->end.offset : r->entries[index + 1].offset;
}

/* --- Refusals ----------------------------------------------------------------------------------------------------- */

static int fail(onnxar_reader_error* e, const char* code, const char* sentence, uint64_t offset) {
  if (!e) return -1;
  e->code = code;
  e->rule = "";
  e->sentence = sentence;
  e->offset = offset;
  e->entry_length = 0;
  e->entry[0] = '\0';
  return -1;
}

static int refuse(onnxar_reader_error* e, const char* rule, uint64_t offset) {
  const size_t length = strlen(rule);
  for (size_t i = 0; i < sizeof rules / sizeof *rules; ++i) {
    const char* id = strstr(rules[i].ids, rule);
    if (id && (id[length] == '\0' || id[length] == ' ')) fail(e, rules[i].code, rules[i].breach, offset);
  }
  if (e) e->rule = rule;
  return -1;
}

static int refuse_name(onnxar_reader_error* e, const char* rule, const struct entry* entry, uint64_t offset) {
  size_t length = name_length(entry);
  refuse(e, rule, offset);
  if (!e) return -1;
  e->entry_length = length;
  if (length > LONGEST_NAME) length = LONGEST_NAME;
  memcpy(e->entry, name_of(entry), length);
  e->entry[length] = '\0';
  return -1;
}

static uint64_t header_offset(const onnxar_reader* r, const struct entry* entry) {
  return r->end.offset + (uint64_t)(entry->header - r->directory);
}

static int refuse_header(const onnxar_reader* r, onnxar_reader_error* e, const char* rule, const struct entry* entry) {
  return refuse_name(e, rule, entry, header_offset(r, entry));
}

static int refuse_local(onnxar_reader_error* e, const char* rule, const struct entry* entry) {
  return refuse_name(e, rule, entry, entry->offset);
}

static int refuse_index(onnxar_reader_error* e) {
  return fail(e, "usage.no_such_entry", "there is no entry of this index", OAR_NO_OFFSET);
}

/* Whether the machine failed, and not the file: no memory, no read. This is never taken for a fault of the file. */
static int is_of_machine(const onnxar_reader_error* e) { return e->rule[0] == '\0'; }

/* --- Memory and reads --------------------------------------------------------------------------------------------- */

static void* take_bytes(const onnxar_reader_options* options, size_t size) {
  return options->allocate ? options->allocate(options->allocator_context, size) : malloc(size);
}

static void drop_bytes(const onnxar_reader_options* options, void* block) {
  if (!block) return;
  if (options->release) {
    options->release(options->allocator_context, block);
  } else {
    free(block);
  }
}

static void drop(const onnxar_reader* r, void* block) { drop_bytes(&r->options, block); }

/* Zeros; NULL after a failure. */
static void* take(const onnxar_reader* r, uint64_t count, size_t width, onnxar_reader_error* e) {
  const uint64_t size = count == 0 ? width : count * width; /* count is that of things in a file: no overflow */
  void* block = size > SIZE_MAX ? NULL : take_bytes(&r->options, (size_t)size);
  if (!block) {
    fail(e, "no_memory", "there is not enough memory", OAR_NO_OFFSET);
    return NULL;
  }
  return memset(block, 0, (size_t)size);
}

static int read_at(const onnxar_reader* r, uint64_t offset, size_t length, void* buffer, onnxar_reader_error* e) {
  if (length == 0) return 0;
  if (r->memory) {
    memcpy(buffer, r->memory + (size_t)offset, length);
    return 0;
  }
  if (r->source.read(r->source.context, offset, length, buffer) == 0) return 0;
  return fail(e, "io.failed", "the source cannot read these bytes", offset);
}

/* Bytes of the file: in place, or read into `room`. NULL after a failure. */
static const unsigned char* view(const onnxar_reader* r, uint64_t offset, size_t length, unsigned char* room,
                                 onnxar_reader_error* e) {
  if (r->memory) return r->memory + (size_t)offset;
  return read_at(r, offset, length, room, e) == 0 ? room : NULL;
}

/* The same, of a length for which `*block` is allocated if it is needed; the caller drops it. */
static const unsigned char* view_long(const onnxar_reader* r, uint64_t offset, uint64_t length, unsigned char** block,
                                      onnxar_reader_error* e) {
  if (r->memory) return r->memory + (size_t)offset;
  *block = (unsigned char*)take(r, length, 1, e);
  return *block ? view(r, offset, (size_t)length, *block, e) : NULL;
}

/* --- The end of the file (E) -------------------------------------------------------------------------------------- */

/* Steps 5 to 9. `record` is the end record, which is at `at`, with the 76 bytes before it if the file has so many. */
static int read_zip64_end(const unsigned char* record, uint64_t at, struct end* end, onnxar_reader_error* e) {
  const unsigned char* locator = record - LOCATOR_SIZE;
  const unsigned char* wide = locator - ZIP64_END_SIZE;
  const uint64_t locator_at = at - LOCATOR_SIZE, wide_at = locator_at - ZIP64_END_SIZE;
  if (u32(locator + 4) != 0 || u32(locator + 16) != 1) return refuse(e, "E4", locator_at);
  if (locator_at < ZIP64_END_SIZE || u64(locator + 8) != wide_at) return refuse(e, "E5", locator_at);
  if (!is_signed(wide, "PK\6\6") || u64(wide + 4) != 44 || u16(wide + 14) < 10 || u16(wide + 14) > 45) {
    return refuse(e, "E6", wide_at);
  }
  end->count = u64(wide + 32);
  end->size = u64(wide + 40);
  end->offset = u64(wide + 48);
  end->has_zip64 = 1;
  if (u32(wide + 16) != 0 || u32(wide + 20) != 0 || u64(wide + 24) != end->count) return refuse(e, "E4", wide_at);
  if ((u16(record + 10) != NONE_16 && u16(record + 10) != end->count) ||
      (u32(record + 12) != NONE_32 && u32(record + 12) != end->size) ||
      (u32(record + 16) != NONE_32 && u32(record + 16) != end->offset)) {
    return refuse(e, "E7", at);
  }
  return 0;
}

/* Steps 1 to 10, of the first `size` bytes of the file. */
static int read_end(const onnxar_reader* r, uint64_t size, struct end* end, onnxar_reader_error* e) {
  enum { ALL = END_SIZE + LOCATOR_SIZE + ZIP64_END_SIZE };
  unsigned char room[ALL];
  const size_t length = size < ALL ? (size_t)size : ALL;
  const unsigned char *last = view(r, size - length, length, room, e), *record;
  const uint64_t at = size - END_SIZE;
  uint64_t ends_at = at;
  if (!last) return -1;
  if (length < END_SIZE || !is_signed(last + length - END_SIZE, "PK\5\6")) return refuse(e, "E1", size);
  record = last + length - END_SIZE;
  if (u16(record + 20) != 0) return refuse(e, "E3", at);
  if (u32(record + 4) != 0 || u16(record + 8) != u16(record + 10)) return refuse(e, "E4", at);
  end->count = u16(record + 10);
  end->size = u32(record + 12);
  end->offset = u32(record + 16);
  end->has_zip64 = 0;
  if (length >= END_SIZE + LOCATOR_SIZE && is_signed(record - LOCATOR_SIZE, "PK\6\7")) {
    if (read_zip64_end(record, at, end, e) < 0) return -1;
    ends_at -= LOCATOR_SIZE + ZIP64_END_SIZE;
  } else if (end->count == NONE_16 || end->size == NONE_32 || end->offset == NONE_32) {
    return refuse(e, "E5", at);
  }
  if (end->offset > ends_at || ends_at - end->offset != end->size) return refuse(e, "E8", at);
  return 0;
}

/* Words E1 better where an end record is near the end: as E2, or as E3 if its comment ends with the file. */
static int refuse_end(const onnxar_reader* r, onnxar_reader_error* e) {
  const uint64_t size = r->source.size, most = END_SIZE + 0xFFFF;
  const size_t length = (size_t)(size < most ? size : most);
  unsigned char* block = NULL;
  const unsigned char* last = view_long(r, size - length, length, &block, e);
  for (size_t at = length < END_SIZE ? 0 : length - END_SIZE + 1; last && at-- > 0;) {
    if (!is_signed(last + at, "PK\5\6")) continue;
    refuse(e, at + END_SIZE + u16(last + at + 20) == length ? "E3" : "E2", size - length + at);
    break;
  }
  drop(r, block);
  return -1;
}

/* Steps 11 to 14. */
static int check_counts(const onnxar_reader* r, onnxar_reader_error* e) {
  const struct end* end = &r->end;
  if (end->count == 0) return refuse(e, "E9", end->offset);
  if (end->count > end->size / HEADER_SIZE) return refuse(e, "E10", end->offset);
  if (end->count > r->options.max_entries) return refuse(e, "E11", end->offset);
  if (end->size > r->options.max_directory) return refuse(e, "E12", end->offset);
  if (end->count >= NONE_32 || end->size > SIZE_MAX) {
    return fail(e, "no_memory", "the directory is too large for this machine", end->offset);
  }
  return 0;
}

/* --- Extra fields ------------------------------------------------------------------------------------------------- */

enum { ZIP64_ID = 1, PADDING_ID = 0xD935, ALIGNMENT_ID = 0xA11E };

struct extras {
  const unsigned char *zip64, *padding; /* their contents; NULL without the field */
  size_t zip64_size, padding_size;
  uint32_t padding_id; /* 0 without a padding record */
};

/* Steps 24 to 26 and 49 to 51; `ids` are the rules D10 to D12 or L4 to L6. The rule that is broken, or NULL. */
static const char* read_extras(const unsigned char* at, size_t length, const char* const ids[3], struct extras* out) {
  const int is_local = ids[0][0] == 'L';
  memset(out, 0, sizeof *out);
  while (length > 0) {
    uint32_t id, size;
    if (length < 4 || length - 4 < u16(at + 2)) return ids[0];
    id = u16(at);
    size = u16(at + 2);
    if (id == ZIP64_ID) {
      if (out->zip64) return ids[2];
      out->zip64 = at + 4;
      out->zip64_size = size;
    } else if (id == ALIGNMENT_ID || (id == PADDING_ID && is_local)) {
      if (out->padding) return ids[2];
      out->padding = at + 4;
      out->padding_size = size;
      out->padding_id = id;
    } else {
      return ids[1];
    }
    at += 4 + size;
    length -= 4 + size;
  }
  return NULL;
}

/* D16 and L11. */
static int is_alignment(uint32_t id, uint32_t number) {
  return number >= 64 && number <= (id == ALIGNMENT_ID ? 16384u : 32768u) && (number & (number - 1)) == 0;
}

/* --- Names (N) ---------------------------------------------------------------------------------------------------- */

static unsigned char folded(unsigned char c) { return (unsigned char)(c >= 'A' && c <= 'Z' ? c + 32 : c); }

static int is_same_text(const unsigned char* a, const unsigned char* b, size_t length) {
  while (length > 0 && folded(a[length - 1]) == folded(b[length - 1])) --length;
  return length == 0;
}

static int is_word(const unsigned char* text, size_t length, const char* word) {
  return strlen(word) == length && is_same_text(text, (const unsigned char*)word, length);
}

static int is_character(unsigned char c) { return c >= 0x20 && c <= 0x7E && !strchr("\\:*?\"<>|;", c); }

/* N17. */
static int is_device(const unsigned char* part, size_t length) {
  static const char* const devices[] = {"con", "prn", "aux", "nul", "conin$", "conout$"};
  const unsigned char* dot = (const unsigned char*)memchr(part, '.', length);
  if (dot) length = (size_t)(dot - part);
  while (length > 0 && part[length - 1] == ' ') --length;
  if (length < 3 || length > 7) return 0;
  for (size_t i = 0; i < sizeof devices / sizeof *devices; ++i) {
    if (is_word(part, length, devices[i])) return 1;
  }
  return length == 4 && part[3] >= '0' && part[3] <= '9' && (is_word(part, 3, "com") || is_word(part, 3, "lpt"));
}

/* The first of N9, N15, N16 and N17 that a part breaks, as an index; 4 if it breaks none. */
static int broken_by_part(const unsigned char* part, size_t length) {
  if (length == 0 || (part[0] == '.' && (length == 1 || (length == 2 && part[1] == '.')))) return 0;
  if (length > 255) return 1;
  if (part[length - 1] == '.' || part[length - 1] == ' ') return 2;
  return is_device(part, length) ? 3 : 4;
}

/* Step 17: each rule is looked at in all parts before the next. The rule that is broken, or NULL. */
static const char* broken_by_name(const unsigned char* name, size_t length) {
  static const char* const ids[] = {"N9", "N15", "N16", "N17", NULL};
  int first = 4;
  if (length > LONGEST_NAME) return "N2";
  for (size_t i = 0; i < length; ++i) {
    if (!is_character(name[i])) return "N14";
  }
  if (name[0] == '/') return "N6";
  if (name[length - 1] == '/') return "N8";
  for (size_t begin = 0, end; begin <= length; begin = end + 1) {
    const unsigned char* slash = (const unsigned char*)memchr(name + begin, '/', length - begin);
    int broken;
    end = slash ? (size_t)(slash - name) : length;
    broken = broken_by_part(name + begin, end - begin);
    if (broken < first) first = broken;
  }
  return ids[first];
}

/* N13, whose one exception is the model's name. */
static int is_reserved(const unsigned char* name, size_t length) {
  return length >= 3 && name[0] == '_' && name[1] == '_' && name[2] >= 'A' && name[2] <= 'Z';
}

/* --- Directory headers (D) ---------------------------------------------------------------------------------------- */

/* D13: size, compressed size and offset as header and zip64 field state them. 0 if it is broken. */
static int read_wide(const unsigned char* header, const struct extras* extras, uint64_t values[3]) {
  const uint32_t own[3] = {u32(header + 24), u32(header + 20), u32(header + 42)};
  const unsigned char* field = extras->zip64;
  size_t sentinels = 0, leading = 0;
  for (size_t i = 0; i < 3; ++i) {
    values[i] = own[i];
    if (own[i] != NONE_32) continue;
    if (sentinels == i) ++leading;
    ++sentinels;
  }
  if (extras->zip64_size == 8 * sentinels) {
    for (size_t i = 0; i < 3; ++i) {
      if (own[i] != NONE_32) continue;
      values[i] = u64(field);
      field += 8;
    }
    return 1;
  }
  if ((extras->zip64_size != 24 && extras->zip64_size != 28) || leading != sentinels) return 0;
  for (size_t i = 0; i < 3; ++i) {
    values[i] = u64(field + 8 * i);
    if (own[i] != NONE_32 && own[i] != values[i]) return 0;
  }
  return 1;
}

/* Steps 18 to 23. The rule that is broken, or NULL. */
static const char* broken_by_fields(const unsigned char* header) {
  const uint32_t flags = u16(header + 8), version = u16(header + 6), attributes = u32(header + 38);
  const uint32_t file_type = attributes >> 16 & 0xF000;
  if (flags & (1u | 1u << 6 | 1u << 13)) return "D2";
  if (flags & 1u << 3) return "D3";
  if (flags & ~(1u << 11)) return "D4";
  if (u16(header + 10) != 0) return "D5";
  if (version < 10 || version > 45) return "D6";
  if (u16(header + 34) != 0) return "D7";
  if (u16(header + 32) != 0) return "D8";
  if (header[5] != 0 && header[5] != 3) return "D9";
  if ((u16(header + 36) & ~1u) != 0 || (file_type != 0 && file_type != 0x8000)) return "D9";
  return attributes & (1u << 3 | 1u << 4 | 1u << 10) ? "D9" : NULL;
}

/* Steps 24 to 30. The rule that is broken, or NULL. */
static const char* broken_by_extras(struct entry* entry) {
  static const char* const ids[] = {"D10", "D11", "D12"};
  const unsigned char* header = entry->header;
  struct extras extras;
  uint64_t values[3];
  const char* broken = read_extras(name_of(entry) + name_length(entry), u16(header + 30), ids, &extras);
  if (broken) return broken;
  if (!read_wide(header, &extras, values)) return "D13";
  if (extras.zip64_size == 28 && u32(extras.zip64 + 24) != 0) return "D7";
  if (values[0] != values[1]) return "D14";
  if (values[0] == 0 && crc_of(entry) != 0) return "D15";
  if (extras.padding) {
    if (extras.padding_size != 2 || !is_alignment(ALIGNMENT_ID, u16(extras.padding))) return "D16";
    entry->alignment = u16(extras.padding);
  }
  entry->size = values[0];
  entry->offset = values[2];
  return NULL;
}

/* Steps 15 to 30 of the header at `at`, of which `left` bytes are in the directory. */
static int read_header(const onnxar_reader* r, struct entry* entry, const unsigned char* at, size_t left,
                       onnxar_reader_error* e) {
  const char* broken;
  entry->header = at;
  if (left < HEADER_SIZE || !is_signed(at, "PK\1\2") ||
      left - HEADER_SIZE < (size_t)u16(at + 28) + u16(at + 30) + u16(at + 32)) {
    return refuse(e, "D1", header_offset(r, entry));
  }
  if (name_length(entry) == 0) return refuse(e, "N1", header_offset(r, entry));
  broken = broken_by_name(name_of(entry), name_length(entry));
  if (!broken) broken = broken_by_fields(at);
  if (!broken) broken = broken_by_extras(entry);
  return broken ? refuse_header(r, e, broken, entry) : 0;
}

/* Steps 15 to 31. */
static int read_directory(onnxar_reader* r, onnxar_reader_error* e) {
  const unsigned char *at, *end;
  r->directory = view_long(r, r->end.offset, r->end.size, &r->own_directory, e);
  if (!r->directory) return -1;
  r->entries = (struct entry*)take(r, r->end.count, sizeof *r->entries, e);
  if (!r->entries) return -1;
  at = r->directory;
  end = at + (size_t)r->end.size;
  for (r->count = 0; r->count < r->end.count; ++r->count) {
    if (read_header(r, &r->entries[r->count], at, (size_t)(end - at), e) < 0) return -1;
    at += HEADER_SIZE + u16(at + 28) + u16(at + 30); /* there is no comment, D8 */
  }
  return at == end ? 0 : refuse(e, "E10", r->end.offset + (uint64_t)(at - r->directory));
}

/* --- Places (P1 to P4) -------------------------------------------------------------------------------------------- */

/* Steps 32 to 35. From here on each local header, its name and data end in the file. */
static int check_places(const onnxar_reader* r, onnxar_reader_error* e) {
  if (r->entries[0].offset != 0) return refuse_header(r, e, "P1", r->entries);
  for (size_t i = 0; i < r->count; ++i) {
    const struct entry* entry = &r->entries[i];
    const uint64_t next = following(r, i), room = next - entry->offset, least = LOCAL_SIZE + name_length(entry);
    if (entry->offset >= next)
      return refuse_header(r, e, is_last(r, i) ? "P4" : "P2", is_last(r, i) ? entry : entry + 1);
    if (room < least || room - least < entry->size) return refuse_local(e, is_last(r, i) ? "P4" : "P3", entry);
  }
  return 0;
}

/* --- The index of names (N10 to N12) ------------------------------------------------------------------------------ */

/* A polynomial of the bytes without case, modulo 2^31 - 1. For a random key, few names of any set have one hash. */
static uint32_t hash_step(const onnxar_reader* r, uint32_t hash, unsigned char c) {
  const uint64_t sum = (uint64_t)hash * r->hash_key + folded(c);
  return (uint32_t)((sum & 0x7FFFFFFF) + (sum >> 31)); /* at most 2^32: enough, as the key has 31 bits */
}

static uint32_t hash_of(const onnxar_reader* r, const unsigned char* name, size_t length) {
  uint32_t hash = 1;
  for (size_t i = 0; i < length; ++i) hash = hash_step(r, hash, name[i]);
  return hash;
}

static int is_same(const struct entry* entry, const unsigned char* name, size_t length) {
  return name_length(entry) == length && is_same_text(name_of(entry), name, length);
}

/* The place in the table of an entry with this name without case, or of none. Counts the places that it passes. */
static uint32_t* find_place(const onnxar_reader* r, const unsigned char* name, size_t length, uint32_t hash,
                            uint64_t* passed) {
  const size_t last = ((size_t)1 << r->table_bits) - 1;
  size_t at = (hash * 0x9E3779B1u) >> (32 - r->table_bits);
  for (; r->table[at] != 0; at = (at + 1) & last, ++*passed) {
    if (is_same(&r->entries[r->table[at] - 1], name, length)) break;
  }
  return &r->table[at];
}

static int has_name(const struct entry* entry, const unsigned char* name, size_t length) {
  return name_length(entry) == length && memcmp(name_of(entry), name, length) == 0;
}

static size_t find(const onnxar_reader* r, const unsigned char* name, size_t length) {
  uint64_t passed = 0;
  const size_t index = *find_place(r, name, length, hash_of(r, name, length), &passed);
  return index != 0 && has_name(&r->entries[index - 1], name, length) ? index - 1 : OAR_NOT_FOUND;
}

/* Steps 36 and 37 of all entries. 1 if they pass so many others in the table that the key has to be another one. */
static int fill_table(const onnxar_reader* r, onnxar_reader_error* e) {
  uint64_t passed = 0;
  for (size_t i = 0; i < r->count; ++i) {
    const struct entry* entry = &r->entries[i];
    const unsigned char* name = name_of(entry);
    uint32_t* place = find_place(r, name, name_length(entry), hash_of(r, name, name_length(entry)), &passed);
    if (*place != 0) {
      return refuse_header(r, e, has_name(&r->entries[*place - 1], name, name_length(entry)) ? "N10" : "N11", entry);
    }
    if (passed > 16 * (uint64_t)r->count + 1000) return 1;
    *place = (uint32_t)i + 1;
  }
  return 0;
}

/* The key need not be a secret for the result, only for the time: names that are bad for many keys are many. */
static int index_names(onnxar_reader* r, onnxar_reader_error* e) {
  int result = 1;
  for (r->table_bits = 2; r->table_bits < 32 && (uint64_t)1 << r->table_bits < 2 * (uint64_t)r->count;) ++r->table_bits;
  r->table = (uint32_t*)take(r, (uint64_t)1 << r->table_bits, sizeof *r->table, e);
  for (uint32_t turn = 1; r->table && result == 1; ++turn) {
    r->hash_key = (uint32_t)((uintptr_t)r->table >> 4) * 0x85EBCA6Bu + turn * 0x9E3779B1u;
    r->hash_key = (r->hash_key & 0x3FFFFFFF) | 0x20000001;
    memset(r->table, 0, ((size_t)1 << r->table_bits) * sizeof *r->table);
    result = fill_table(r, e);
  }
  return r->table ? result : -1;
}

/* Step 38. */
static int check_folders(const onnxar_reader* r, onnxar_reader_error* e) {
  for (size_t i = 0; i < r->count; ++i) {
    const unsigned char* name = name_of(&r->entries[i]);
    const size_t length = name_length(&r->entries[i]);
    uint32_t hash = 1;
    uint64_t passed = 0;
    for (size_t k = 0; k < length && memchr(name, '/', length); ++k) {
      if (name[k] == '/' && *find_place(r, name, k, hash, &passed) != 0) {
        return refuse_header(r, e, "N12", &r->entries[i]);
      }
      hash = hash_step(r, hash, name[k]);
    }
  }
  return 0;
}

/* --- Local headers (L, P5) ---------------------------------------------------------------------------------------- */

static int all_zeros(const unsigned char* at, size_t length) {
  return length == 0 || (at[0] == 0 && memcmp(at, at + 1, length - 1) == 0);
}

/* Steps 52 and 53. The rule that is broken, or NULL. */
static const char* broken_by_sizes(const struct entry* entry, const unsigned char* local, const struct extras* extras) {
  const uint32_t packed = u32(local + 18), size = u32(local + 22);
  if (!extras->zip64) {
    if (packed == NONE_32 || size == NONE_32) return "L7";
    return packed == entry->size && size == entry->size ? NULL : "L8";
  }
  if (extras->zip64_size != 16) return "L7";
  if (u64(extras->zip64) != entry->size || u64(extras->zip64 + 8) != entry->size) return "L8";
  if ((packed != NONE_32 && packed != entry->size) || (size != NONE_32 && size != entry->size)) return "L8";
  return NULL;
}

/* Steps 54 to 58. The rule that is broken, or NULL. */
static const char* broken_by_padding(const struct entry* entry, const struct extras* extras, uint64_t data) {
  uint32_t alignment = 64;
  if (extras->padding) {
    if (extras->padding_size < 2) return "L10";
    alignment = u16(extras->padding);
    if (!is_alignment(extras->padding_id, alignment)) return "L11";
  }
  if (data % alignment != 0) return "L12";
  if (entry->alignment != 0 && (extras->padding_id != ALIGNMENT_ID || entry->alignment != alignment)) return "L14";
  return extras->padding && !all_zeros(extras->padding + 2, extras->padding_size - 2) ? "L10" : NULL;
}

/* Steps 46 to 58 of a local header with name and extra fields. */
static const char* broken_by_local(const struct entry* entry, const unsigned char* local, uint64_t data) {
  static const char* const ids[] = {"L4", "L5", "L6"};
  const uint32_t version = u16(local + 4);
  struct extras extras;
  const char* broken;
  if (!has_name(entry, local + LOCAL_SIZE, u16(local + 26))) return "L2";
  if (((u16(local + 6) ^ u16(entry->header + 8)) & ~(1u << 11)) != 0) return "L3";
  if (memcmp(local + 8, entry->header + 10, 10) != 0) return "L3"; /* method, time, date, CRC-32 */
  if (version < 10 || version > 45) return "L13";
  broken = read_extras(local + LOCAL_SIZE + u16(local + 26), u16(local + 28), ids, &extras);
  if (!broken) broken = broken_by_sizes(entry, local, &extras);
  return broken ? broken : broken_by_padding(entry, &extras, data);
}

/* Step 60: the bytes from `data_end` to the next local header are a superseded tail (P5c). */
static int check_gap(const onnxar_reader* r, size_t index, uint64_t data_end, onnxar_reader_error* e) {
  onnxar_reader_error why;
  struct end tail;
  if (!is_last(r, index)) {
    if (read_end(r, following(r, index), &tail, &why) == 0) {
      if (tail.offset >= data_end && (r->end.has_zip64 || !tail.has_zip64)) return 0;
    } else if (is_of_machine(&why)) {
      return fail(e, why.code, why.sentence, why.offset);
    }
  }
  return refuse_name(e, "P5", &r->entries[index], data_end);
}

/* Steps 45 to 60, then the proof is stored. Local header and name end before what follows (check_places), so 30 bytes
 * can be read; with them are read as many as usual extra fields need. */
static int prove_local(const onnxar_reader* r, size_t index, onnxar_reader_error* e) {
  enum { USUAL = 512 };
  struct entry* entry = &r->entries[index];
  const uint64_t room = following(r, index) - entry->offset;
  unsigned char usual[USUAL], *block = NULL;
  const unsigned char* local = view(r, entry->offset, room < USUAL ? (size_t)room : (size_t)USUAL, usual, e);
  const char* broken;
  uint64_t length;
  if (!local) return -1;
  length = LOCAL_SIZE + u16(local + 26) + u16(local + 28);
  if (!is_signed(local, "PK\3\4") || length > room) return refuse_local(e, "L1", entry);
  if (length > LONGEST_LOCAL) return refuse_local(e, "L15", entry);
  if (length > USUAL) local = view_long(r, entry->offset, length, &block, e);
  broken = local ? broken_by_local(entry, local, entry->offset + length) : NULL;
  drop(r, block);
  if (!local) return -1;
  if (!broken && entry->size > room - length) broken = is_last(r, index) ? "P4" : "P3";
  if (broken) return refuse_local(e, broken, entry);
  if (entry->size < room - length && check_gap(r, index, entry->offset + length + entry->size, e) < 0) return -1;
  store_proof(&entry->proof, (uint32_t)length);
  return 0;
}

/* Stage use: after it, data_of and has_tail may be called. */
static int prove(const onnxar_reader* r, size_t index, onnxar_reader_error* e) {
  return load_proof(&r->entries[index].proof) != 0 ? 0 : prove_local(r, index, e);
}

static uint64_t data_of(const onnxar_reader* r, size_t index) {
  return r->entries[index].offset + load_proof(&r->entries[index].proof);
}

static int prove_all(const onnxar_reader* r, onnxar_reader_error* e) {
  for (size_t i = 0; i < r->count; ++i) {
    if (prove(r, i, e) < 0) return -1;
  }
  return 0;
}

/* --- Stage open --------------------------------------------------------------------------------------------------- */

/* Sums of this wrap around only for sizes near 2^64, where no wrapped sum can be the offset of what follows. */
static uint64_t aligned(uint64_t offset, uint64_t alignment) { return (offset + alignment - 1) & ~(alignment - 1); }

/* Steps 39 and 40: where P5a does not hold, the local header is proved now. */
static int prove_unusual(const onnxar_reader* r, onnxar_reader_error* e) {
  for (size_t i = 0; i < r->count; ++i) {
    const struct entry* entry = &r->entries[i];
    const uint64_t wide = entry->size >= NONE_32 ? 20 : 0, begin = following(r, i) - entry->size;
    const uint64_t least = entry->offset + LOCAL_SIZE + name_length(entry) + wide;
    if (begin == aligned(least + 6, entry->size >= 1048576 ? 4096 : 64)) continue;
    if (begin == aligned(least, 64) || begin == aligned(least + 6, 64)) continue;
    if (prove(r, i, e) < 0) return -1;
  }
  return 0;
}

/* Steps 41 to 44. */
static int check_model(const onnxar_reader* r, onnxar_reader_error* e) {
  const size_t index = find(r, (const unsigned char*)MODEL_NAME, sizeof MODEL_NAME - 1);
  if (index == OAR_NOT_FOUND) return refuse(e, "P6", r->end.offset);
  if (!is_last(r, index)) return refuse_header(r, e, "P7", &r->entries[index]);
  if (r->entries[index].size > r->options.max_model) return refuse_header(r, e, "P8", &r->entries[index]);
  for (size_t i = 0; i < index; ++i) {
    if (is_reserved(name_of(&r->entries[i]), name_length(&r->entries[i]))) {
      return refuse_header(r, e, "N13", &r->entries[i]);
    }
  }
  return 0;
}

static int open_state(onnxar_reader* r, onnxar_reader_error* e) {
  if (read_end(r, r->source.size, &r->end, e) < 0) return -1;
  if (check_counts(r, e) < 0 || read_directory(r, e) < 0 || check_places(r, e) < 0) return -1;
  if (index_names(r, e) < 0 || check_folders(r, e) < 0) return -1;
  return prove_unusual(r, e) < 0 ? -1 : check_model(r, e);
}

static void drop_state(onnxar_reader* r) {
  drop(r, r->table);
  drop(r, r->entries);
  drop(r, r->own_directory);
}

/* --- CRC-32 (T1) ------------------------------------------------------------------------------------------------- */

typedef void (*sink)(void* context, const unsigned char* bytes, size_t length);

/* Gives all bytes of a range to `use`, in pieces where the file is read. */
static int read_all(const onnxar_reader* r, uint64_t offset, uint64_t size, sink use, void* context,
                    onnxar_reader_error* e) {
  unsigned char* block = r->memory ? NULL : (unsigned char*)take(r, 1, PIECE, e);
  if (!r->memory && !block) return -1;
  for (size_t length; size > 0; offset += length, size -= length) {
    const unsigned char* piece;
    length = !r->memory && size > PIECE ? (size_t)PIECE : (size_t)size;
    piece = view(r, offset, length, block, e);
    if (!piece) break;
    use(context, piece, length);
  }
  drop(r, block);
  return size > 0 ? -1 : 0;
}

struct crc {
  uint32_t value, after[8][256]; /* what a byte makes of the register, and then so many zeros */
};

static void crc_begin(struct crc* crc) {
  for (uint32_t i = 0; i < 256; ++i) {
    uint32_t value = i;
    for (int bit = 0; bit < 8; ++bit) value = value >> 1 ^ (value & 1 ? 0xEDB88320u : 0);
    crc->after[0][i] = value;
  }
  for (int k = 1; k < 8; ++k) {
    for (uint32_t i = 0; i < 256; ++i) {
      const uint32_t before = crc->after[k - 1][i];
      crc->after[k][i] = before >> 8 ^ crc->after[0][before & 255];
    }
  }
}

static void crc_add(void* context, const unsigned char* at, size_t length) {
  struct crc* crc = (struct crc*)context;
  uint32_t value = crc->value;
  for (; length >= 8; at += 8, length -= 8) {
    const uint32_t low = value ^ u32(at), high = u32(at + 4);
    value = crc->after[7][low & 255] ^ crc->after[6][low >> 8 & 255] ^ crc->after[5][low >> 16 & 255] ^
            crc->after[4][low >> 24] ^ crc->after[3][high & 255] ^ crc->after[2][high >> 8 & 255] ^
            crc->after[1][high >> 16 & 255] ^ crc->after[0][high >> 24];
  }
  for (; length > 0; ++at, --length) value = value >> 8 ^ crc->after[0][(value ^ *at) & 255];
  crc->value = value;
}

/* T1. `crc` has its tables. */
static int check_crc(const onnxar_reader* r, size_t index, struct crc* crc, onnxar_reader_error* e) {
  const struct entry* entry = &r->entries[index];
  if (prove(r, index, e) < 0) return -1;
  crc->value = 0xFFFFFFFF;
  if (read_all(r, data_of(r, index), entry->size, crc_add, crc, e) < 0) return -1;
  return ~crc->value == crc_of(entry) ? 0 : refuse_name(e, "T1", entry, data_of(r, index));
}

/* --- The wire format (M2 to M5) ----------------------------------------------------------------------------------- */

/* A number, and `*at` after it. The rule that is broken, or NULL. */
static const char* read_varint(const unsigned char** at, const unsigned char* end, uint64_t* value) {
  const unsigned char* byte = *at;
  for (*value = 0; byte - *at < 10; ++byte) {
    if (byte == end) return "M2";
    *value |= (uint64_t)(*byte & 0x7F) << 7 * (byte - *at);
    if (*byte < 0x80) {
      if (byte - *at == 9 && *byte > 1) return "M3"; /* more than 64 bits */
      *at = byte + 1;
      return NULL;
    }
  }
  return "M3";
}

/* The field at `*at`, and `*at` after it: steps a to d. The rule that is broken at `*blamed`, or NULL. */
static const char* read_field(const unsigned char** at, const unsigned char* end, onnxar_reader_field* field,
                              const unsigned char** blamed) {
  const unsigned char* now = *at;
  uint64_t tag = 0;
  const char* broken = read_varint(&now, end, &tag);
  *blamed = *at;
  if (broken) return broken;
  if (now - *at > 5 || tag >> 3 == 0 || tag >> 32 != 0) return "M4";
  field->number = (uint32_t)(tag >> 3);
  field->wire_type = (uint32_t)(tag & 7);
  field->data = now;
  field->value = field->wire_type == 1 ? 8 : 4;
  if (field->wire_type > 2 && field->wire_type != 5) return "M5";
  if (field->wire_type == 0 || field->wire_type == 2) {
    *blamed = now;
    broken = read_varint(&now, end, &field->value);
    if (broken) return broken;
    if (field->wire_type == 2) field->data = now;
  }
  field->length = (size_t)(now - field->data);
  if (field->wire_type != 0) {
    *blamed = *at;
    if (field->value > (uint64_t)(end - now)) return "M2";
    field->length = (size_t)field->value;
    if (field->wire_type != 2) field->value = field->wire_type == 1 ? u64(now) : u32(now);
  }
  *at = field->data + field->length;
  return NULL;
}

/* --- The walk (M1, M6, M7) ---------------------------------------------------------------------------------------- */

enum message { MODEL, TRAINING, FUNCTION, GRAPH, NODE, ATTRIBUTE, SPARSE, TENSOR };

/* The fields that lead to tensors. `slot` numbers those of one message; `site` is what begins with the field. */
struct step {
  unsigned char parent, number, child, is_repeated, slot;
  signed char site;
  const char* label;
};

static const struct step steps[] = {
    {MODEL, 7, GRAPH, 0, 0, -1, "graph"},
    {MODEL, 20, TRAINING, 1, 1, OAR_TRAINING, "training_info"},
    {MODEL, 25, FUNCTION, 1, 2, -1, "functions"},
    {TRAINING, 1, GRAPH, 0, 0, -1, "initialization"},
    {TRAINING, 2, GRAPH, 0, 1, -1, "algorithm"},
    {FUNCTION, 7, NODE, 1, 0, -1, "node"},
    {FUNCTION, 11, ATTRIBUTE, 1, 1, OAR_FUNCTION_DEFAULT, "attribute_proto"},
    {GRAPH, 1, NODE, 1, 0, -1, "node"},
    {GRAPH, 5, TENSOR, 1, 1, OAR_INITIALIZER, "initializer"},
    {GRAPH, 15, SPARSE, 1, 2, -1, "sparse_initializer"},
    {NODE, 5, ATTRIBUTE, 1, 0, -1, "attribute"},
    {ATTRIBUTE, 5, TENSOR, 0, 0, OAR_ATTRIBUTE, "t"},
    {ATTRIBUTE, 6, GRAPH, 0, 1, -1, "g"},
    {ATTRIBUTE, 10, TENSOR, 1, 2, OAR_ATTRIBUTE, "tensors"},
    {ATTRIBUTE, 11, GRAPH, 1, 3, -1, "graphs"},
    {ATTRIBUTE, 22, SPARSE, 0, 4, -1, "sparse_tensor"},
    {ATTRIBUTE, 23, SPARSE, 1, 5, -1, "sparse_tensors"},
    {SPARSE, 1, TENSOR, 0, 0, OAR_SPARSE_VALUES, "values"},
    {SPARSE, 2, TENSOR, 0, 1, OAR_SPARSE_INDICES, "indices"},
};

/* A message that the walk is in. */
struct frame {
  const unsigned char* end;
  const struct step* step; /* that led to it */
  uint32_t index;          /* among those of this step in the message above */
  uint32_t counts[6];      /* of the fields that led on, by slot */
  int message, site;
};

struct text {
  const unsigned char* at; /* NULL if it is missing */
  size_t length;
};

enum { LOCATION, OFFSET, LENGTH, CHECKSUM, KEYS };

/* What the fields of a tensor state. */
struct scan {
  const unsigned char *begin, *end;
  struct text name, raw, keys[KEYS];
  int is_linked, has_runs;
  uint32_t data_type;
  size_t rank;
  uint64_t values[12]; /* in the typed fields, by number */
  uint64_t elements, bytes;
  int has_bytes; /* type and dimensions call for a number of bytes */
};

struct onnxar_reader_walk {
  const onnxar_reader* r;
  size_t index; /* of the entry */
  const unsigned char *begin, *at;
  size_t size;
  unsigned char* block; /* the model, if the file is read */
  int depth;            /* of the message that the walk is in: 0 is the model, -1 its end */
  int has_failed;
  struct frame frames[DEEPEST + 1]; /* one more is set by the last tensor, which may be the deepest */
  struct scan tensor;
  int64_t dims[MOST_DIMS];
  onnxar_reader_error error;
};

static int refuse_at(onnxar_reader_walk* w, const char* rule, const unsigned char* at) {
  const onnxar_reader* r = w->r;
  return refuse_name(&w->error, rule, &r->entries[w->index], data_of(r, w->index) + (uint64_t)(at - w->begin));
}

static int next_field(onnxar_reader_walk* w, const unsigned char** at, const unsigned char* end,
                      onnxar_reader_field* field) {
  const unsigned char* blamed;
  const char* broken = read_field(at, end, field, &blamed);
  return broken ? refuse_at(w, broken, blamed) : 0;
}

/* --- Tensors ------------------------------------------------------------------------------------------------------ */

enum { DIMS = 1, DATA_TYPE = 2, STRING_DATA = 6, NAME = 8, RAW_DATA = 9, EXTERNAL_DATA = 13, DATA_LOCATION = 14 };
enum { STRING = 8, COMPLEX64 = 14, COMPLEX128 = 15 };

/* The bits of an element, 0 if unknown; the typed field. By data type; the first stands for all types that are unknown.
 */
static const struct {
  unsigned char bits, field;
} types[] = {{0, 0}, {32, 4}, {8, 5},   {8, 5},   {16, 5},  {16, 5}, {32, 5},   {64, 7}, {0, 6},
             {8, 5}, {16, 5}, {64, 10}, {32, 11}, {64, 11}, {64, 4}, {128, 10}, {16, 5}, {8, 5},
             {8, 5}, {8, 5},  {8, 5},   {4, 5},   {4, 5},   {4, 5},  {8, 5},    {2, 5},  {2, 5}};

static size_t known_type(uint32_t data_type) { return data_type < sizeof types / sizeof *types ? data_type : 0; }

/* The wire type of a value of a typed field that is not packed; 3, which there is not, for other fields. */
static uint32_t wire_type_of(uint32_t number) {
  static const unsigned char own[] = {3, 3, 3, 3, 5, 0, 2, 0, 3, 3, 1, 0};
  return number < sizeof own ? own[number] : 3;
}

/* Steps f and i: a packed run of varints, or a single one; of dimensions, which are kept, or of typed data. */
static int read_run(onnxar_reader_walk* w, const onnxar_reader_field* field, const unsigned char* tag) {
  const unsigned char *at = field->data, *end = at + field->length;
  while (at < end) {
    uint64_t value = 0;
    const unsigned char* number = at;
    const char* broken = read_varint(&at, end, &value);
    if (broken) return refuse_at(w, broken, number);
    if (field->number != DIMS) {
      ++w->tensor.values[field->number];
      continue;
    }
    if (value > INT64_MAX || w->tensor.rank == MOST_DIMS) return refuse_at(w, "M17", tag);
    w->dims[w->tensor.rank++] = (int64_t)value;
  }
  return 0;
}

static struct text text_of(const onnxar_reader_field* field) {
  struct text text = {field->data, field->length};
  return text;
}

static int begins(struct text text, const char* with) {
  return text.length >= strlen(with) && memcmp(text.at, with, strlen(with)) == 0;
}

static int is_text(struct text text, const char* other) { return text.length == strlen(other) && begins(text, other); }

/* A StringStringEntryProto. The rule that is broken at `*blamed`, or NULL. */
static const char* read_pair(const onnxar_reader_field* message, struct text pair[2], const unsigned char** blamed) {
  const unsigned char *at = message->data, *end = at + message->length;
  pair[0].at = pair[1].at = at;
  pair[0].length = pair[1].length = 0;
  while (at < end) {
    onnxar_reader_field field;
    const char* broken = read_field(&at, end, &field, blamed);
    if (broken) return broken;
    if (field.wire_type == 2 && (field.number == 1 || field.number == 2)) pair[field.number - 1] = text_of(&field);
  }
  return NULL;
}

/* Step g. */
static int add_key(onnxar_reader_walk* w, const onnxar_reader_field* message, const unsigned char* tag) {
  static const char* const names[] = {"location", "offset", "length", "checksum"};
  struct text pair[2];
  const unsigned char* blamed;
  const char* broken;
  if (w->depth + 2 > DEEPEST) return refuse_at(w, "M6", tag);
  broken = read_pair(message, pair, &blamed);
  if (broken) return refuse_at(w, broken, blamed);
  for (int i = 0; i < KEYS; ++i) {
    if (!is_text(pair[0], names[i])) continue;
    if (w->tensor.keys[i].at) return refuse_at(w, "M10", message->data);
    w->tensor.keys[i] = pair[1];
  }
  return 0;
}

static int add_field(onnxar_reader_walk* w, const onnxar_reader_field* field, const unsigned char* tag) {
  struct scan* tensor = &w->tensor;
  const uint32_t low = (uint32_t)field->value, own = wire_type_of(field->number);
  if (own == field->wire_type) ++tensor->values[field->number];
  if (own != 2 && own != 3 && field->wire_type == 2) tensor->has_runs = 1;
  if (field->number == DIMS && (field->wire_type == 0 || field->wire_type == 2)) return read_run(w, field, tag);
  if (field->number == EXTERNAL_DATA && field->wire_type == 2) return add_key(w, field, tag);
  if (field->number == DATA_TYPE && field->wire_type == 0) tensor->data_type = low;
  if (field->number == NAME && field->wire_type == 2) tensor->name = text_of(field);
  if (field->number == RAW_DATA && field->wire_type == 2) tensor->raw = text_of(field);
  if (field->number == DATA_LOCATION && field->wire_type == 0 && low <= 1) tensor->is_linked = low == 1;
  return 0;
}

/* The product, with UINT64_MAX for all that is larger. */
static uint64_t times(uint64_t a, uint64_t b) { return b != 0 && a > UINT64_MAX / b ? UINT64_MAX : a * b; }

/* Step h. */
static int count_elements(onnxar_reader_walk* w) {
  struct scan* tensor = &w->tensor;
  const uint32_t bits = types[known_type(tensor->data_type)].bits;
  int is_too_much = 0, is_empty = 0;
  tensor->elements = 1;
  for (size_t i = 0; i < tensor->rank; ++i) {
    const uint64_t dim = (uint64_t)w->dims[i];
    is_empty |= dim == 0;
    is_too_much |= dim != 0 && tensor->elements > UINT64_MAX / dim;
    if (dim != 0) tensor->elements = times(tensor->elements, dim);
  }
  if (is_empty) tensor->elements = is_too_much = 0;
  tensor->has_bytes = bits != 0 || tensor->elements == 0;
  if (bits >= 8) {
    is_too_much |= tensor->elements > UINT64_MAX / (bits / 8);
    tensor->bytes = times(tensor->elements, bits / 8);
  } else if (bits != 0) {
    tensor->bytes = tensor->elements / (8 / bits) + (tensor->elements % (8 / bits) != 0);
  }
  return bits != 0 && is_too_much ? refuse_at(w, "M17", tensor->begin) : 0;
}

/* Step i: the packed runs of typed data, of fields that were read before. */
static int count_runs(onnxar_reader_walk* w) {
  const unsigned char *at = w->tensor.begin, *tag;
  while (w->tensor.has_runs && (tag = at) < w->tensor.end) {
    onnxar_reader_field field;
    uint32_t own, width;
    if (next_field(w, &at, w->tensor.end, &field) < 0) return -1;
    own = wire_type_of(field.number);
    width = own == 1 ? 8 : 4;
    if (field.wire_type != 2 || own == 2 || own == 3) continue;
    if (own == 0 && read_run(w, &field, tag) < 0) return -1;
    if (own == 0) continue;
    if (field.length % width != 0) return refuse_at(w, "M2", tag);
    w->tensor.values[field.number] += field.length / width;
  }
  return 0;
}

/* Steps a to i of a tensor. */
static int scan_tensor(onnxar_reader_walk* w, const onnxar_reader_field* message) {
  const unsigned char *at = message->data, *tag;
  memset(&w->tensor, 0, sizeof w->tensor);
  w->tensor.begin = at;
  w->tensor.end = at + message->length;
  while ((tag = at) < w->tensor.end) {
    onnxar_reader_field field;
    if (next_field(w, &at, w->tensor.end, &field) < 0 || add_field(w, &field, tag) < 0) return -1;
  }
  return count_elements(w) < 0 ? -1 : count_runs(w);
}

/* How many fields hold values, and the last of these that is not `raw_data`, or 0. */
static int count_held(const struct scan* tensor, int* field) {
  int held = tensor->raw.length > 0;
  *field = 0;
  for (int number = 0; number < 12; ++number) {
    if (tensor->values[number] == 0) continue;
    ++held;
    *field = number;
  }
  return held;
}

/* How many values a typed field has to have. */
static uint64_t needed_values(const struct scan* tensor) {
  const uint32_t bits = types[known_type(tensor->data_type)].bits;
  if (tensor->data_type == COMPLEX64 || tensor->data_type == COMPLEX128) return times(tensor->elements, 2);
  return bits != 0 && bits < 8 ? tensor->bytes : tensor->elements;
}

/* Step l. The rule that is broken, or NULL. */
static const char* judge_inline(const struct scan* tensor, onnxar_reader_tensor* out) {
  const int own = types[known_type(tensor->data_type)].field, held = count_held(tensor, &out->field);
  if (tensor->data_type == 0) return "M19";
  if (held > 1) return "M20";
  if (out->field != 0 && own != 0 && out->field != own) return "M21";
  if (tensor->raw.length > 0 && tensor->data_type == STRING) return "M21";
  if (tensor->elements == 0 && held > 0) return "M18";
  if (tensor->raw.at && tensor->has_bytes && tensor->raw.length < tensor->bytes) return "M18";
  if (out->field != 0 && own != 0 && tensor->values[out->field] < needed_values(tensor)) return "M18";
  return NULL;
}

/* A plain decimal number below 2^64. */
static int read_decimal(struct text text, uint64_t* value) {
  *value = 0;
  if (text.length == 0 || text.length > 20 || (text.at[0] == '0' && text.length > 1)) return 0;
  for (size_t i = 0; i < text.length; ++i) {
    const uint64_t digit = (uint64_t)text.at[i] - '0';
    if (digit > 9 || *value > (UINT64_MAX - digit) / 10) return 0;
    *value = *value * 10 + digit;
  }
  return 1;
}

/* Step k up to M18. The rule that is broken, or NULL. */
static const char* judge_link(const struct scan* tensor, uint64_t* offset, uint64_t* length) {
  int field;
  const struct text* keys = tensor->keys;
  if (tensor->data_type == 0) return "M19";
  if (tensor->data_type == STRING) return "M15";
  if (tensor->raw.at || count_held(tensor, &field) > 0) return "M16";
  if (keys[LOCATION].length == 0) return "M8";
  if (begins(keys[LOCATION], "*/_ORT_") || begins(keys[LOCATION], "#onnxar:")) return "M14";
  *offset = 0;
  *length = tensor->bytes;
  if (keys[OFFSET].at && !read_decimal(keys[OFFSET], offset)) return "M11";
  if (keys[LENGTH].at && !read_decimal(keys[LENGTH], length)) return "M12";
  return tensor->has_bytes && *length != tensor->bytes ? "M18" : NULL;
}

/* Bytes of an entry that was used. 0 if they are out of range (M13). */
static int place_range(const onnxar_reader* r, size_t index, uint64_t offset, uint64_t length,
                       onnxar_reader_range* range) {
  const uint64_t size = r->entries[index].size;
  if (offset > size || length > size - offset) return 0;
  range->offset = data_of(r, index) + offset;
  range->size = length;
  range->data = r->memory ? r->memory + (size_t)range->offset : NULL;
  return 1;
}

/* Step k from M9 on: the entry of a link. The rule that is broken, "" if its local header was refused, or NULL. */
static const char* find_data(const onnxar_reader* r, struct text location, uint64_t offset, const uint64_t* length,
                             onnxar_reader_range* range, size_t* index, onnxar_reader_error* e) {
  uint64_t rest;
  *index = find(r, location.at, location.length);
  if (*index == OAR_NOT_FOUND) return "M9";
  if (prove(r, *index, e) < 0) return "";
  rest = r->entries[*index].size < offset ? 0 : r->entries[*index].size - offset;
  return place_range(r, *index, offset, length ? *length : rest, range) ? NULL : "M13";
}

/* Steps k and l of the tensor that was scanned. */
static int judge_tensor(onnxar_reader_walk* w, onnxar_reader_tensor* out) {
  const struct scan* tensor = &w->tensor;
  onnxar_reader_range range = {tensor->raw.at, 0, tensor->raw.length};
  const char* broken;
  out->field = 0;
  out->entry = OAR_NOT_FOUND;
  if (tensor->is_linked) {
    uint64_t offset, length;
    const int has_length = tensor->has_bytes || tensor->keys[LENGTH].at;
    broken = judge_link(tensor, &offset, &length);
    if (!broken) {
      broken =
          find_data(w->r, tensor->keys[LOCATION], offset, has_length ? &length : NULL, &range, &out->entry, &w->error);
    }
    out->kind = OAR_LINKED;
  } else {
    broken = judge_inline(tensor, out);
    out->kind = out->field != 0 ? OAR_TYPED : tensor->raw.at ? OAR_INLINE : OAR_NO_DATA;
    if (tensor->raw.at) range.offset = data_of(w->r, w->index) + (uint64_t)(tensor->raw.at - w->begin);
  }
  out->data = range.data;
  out->offset = range.offset;
  out->size = range.size;
  if (broken && broken[0] == '\0') return -1;
  return broken ? refuse_at(w, broken, tensor->begin) : 0;
}

/* Reads and judges a tensor, and says what it is. */
static int take_tensor(onnxar_reader_walk* w, const onnxar_reader_field* message, int site, onnxar_reader_tensor* out) {
  static const char none[] = "";
  const struct scan* tensor = &w->tensor;
  if (scan_tensor(w, message) < 0 || judge_tensor(w, out) < 0) return -1;
  out->name = tensor->name.at ? (const char*)tensor->name.at : none;
  out->name_length = tensor->name.length;
  out->site = site;
  out->data_type = (int32_t)tensor->data_type;
  out->rank = tensor->rank;
  out->dims = w->dims;
  out->elements = tensor->elements;
  out->values = tensor->values[out->field];
  out->message = tensor->begin;
  out->message_size = (size_t)(tensor->end - tensor->begin);
  return 0;
}

/* --- The next tensor (M1, M6, M7) --------------------------------------------------------------------------------- */

/* The step by which the field of a message leads on, or NULL. */
static const struct step* step_of(int message, const onnxar_reader_field* field) {
  for (size_t i = 0; i < sizeof steps / sizeof *steps && field->wire_type == 2; ++i) {
    if (steps[i].parent == message && steps[i].number == field->number) return &steps[i];
  }
  return NULL;
}

/* Training info and defaults of functions count for all that is beneath them, except the indices of sparse tensors. */
static int site_of(const struct step* step, int above) {
  if (step->site == OAR_SPARSE_INDICES || above < OAR_FUNCTION_DEFAULT) return step->site < 0 ? above : step->site;
  return step->site == OAR_TRAINING ? OAR_TRAINING : above;
}

/* Steps e of a field that leads on: enters the message, with the walk before its first byte. */
static int enter(onnxar_reader_walk* w, const struct step* step, const onnxar_reader_field* field,
                 const unsigned char* tag) {
  struct frame *parent = &w->frames[w->depth], *child = parent + 1;
  const uint32_t index = parent->counts[step->slot]++;
  if (index > 0 && !step->is_repeated) return refuse_at(w, "M7", tag);
  if (w->depth == DEEPEST) return refuse_at(w, "M6", tag);
  memset(child, 0, sizeof *child);
  child->end = field->data + field->length;
  child->step = step;
  child->index = index;
  child->message = step->child;
  child->site = site_of(step, parent->site);
  return 0;
}

/* 1: a tensor; 0: the end of the model; -1: a refusal. */
static int walk_on(onnxar_reader_walk* w, onnxar_reader_tensor* tensor) {
  while (w->depth >= 0) {
    const struct frame* frame = &w->frames[w->depth];
    const unsigned char* tag = w->at;
    const struct step* step;
    onnxar_reader_field field;
    if (tag == frame->end) {
      --w->depth;
      continue;
    }
    if (next_field(w, &w->at, frame->end, &field) < 0) return -1;
    step = step_of(frame->message, &field);
    if (!step) continue;
    if (enter(w, step, &field, tag) < 0) return -1;
    if (step->child == TENSOR) return take_tensor(w, &field, frame[1].site, tensor) < 0 ? -1 : 1;
    w->at = field.data;
    ++w->depth;
  }
  return w->frames[0].counts[0] > 0 ? 0 : refuse_at(w, "M1", w->begin);
}

int onnxar_reader_walk_next(onnxar_reader_walk* walk, onnxar_reader_tensor* tensor, onnxar_reader_error* error) {
  const int result = walk->has_failed ? -1 : walk_on(walk, tensor);
  walk->has_failed = result < 0;
  if (result < 0 && error) *error = walk->error;
  return result;
}

/* Begins, also again, with an entry. */
static int begin_walk(onnxar_reader_walk* w, size_t index, onnxar_reader_error* e) {
  const onnxar_reader* r = w->r;
  const struct entry* entry = &r->entries[index];
  drop(r, w->block);
  w->block = NULL;
  if (entry->size > MODEL_LIMIT) return refuse_header(r, e, "G2", entry);
  if (prove(r, index, e) < 0) return -1;
  w->begin = view_long(r, data_of(r, index), entry->size, &w->block, e);
  if (!w->begin) return -1;
  w->index = index;
  w->at = w->begin;
  w->depth = w->has_failed = 0;
  memset(w->frames, 0, sizeof *w->frames);
  w->frames[0].end = w->begin + (size_t)entry->size;
  w->frames[0].site = -1;
  return 0;
}

int onnxar_reader_walk_open(const onnxar_reader* archive, size_t index, onnxar_reader_walk** walk,
                            onnxar_reader_error* error) {
  onnxar_reader_walk* w;
  *walk = NULL;
  if (index + 1 != archive->count && !onnxar_reader_is_graph(archive, index)) {
    return fail(error, "usage.argument", "only __MODEL_PROTO and graphs can be walked", OAR_NO_OFFSET);
  }
  w = (onnxar_reader_walk*)take(archive, 1, sizeof *w, error);
  if (!w) return -1;
  w->r = archive;
  if (begin_walk(w, index, error) < 0) {
    onnxar_reader_walk_close(w);
    return -1;
  }
  *walk = w;
  return 0;
}

void onnxar_reader_walk_close(onnxar_reader_walk* walk) {
  if (!walk) return;
  drop(walk->r, walk->block);
  drop(walk->r, walk);
}

const void* onnxar_reader_walk_model(const onnxar_reader_walk* walk, size_t* size) {
  *size = (size_t)(walk->frames[0].end - walk->begin);
  return walk->begin;
}

/* --- Text for people ---------------------------------------------------------------------------------------------- */

/* Text that is cut where its room ends. */
struct writer {
  char* at;
  size_t room, length; /* with the zero; of all that was written, cut or not */
};

static void put(struct writer* writer, char c) {
  if (writer->length + 1 < writer->room) writer->at[writer->length] = c;
  ++writer->length;
}

static void put_text(struct writer* writer, const char* text) {
  while (*text) put(writer, *text++);
}

static void put_number(struct writer* writer, uint64_t number) {
  char digits[24], *at = digits + sizeof digits;
  *--at = '\0';
  do *--at = (char)('0' + number % 10);
  while (number /= 10);
  put_text(writer, at);
}

static size_t end_text(struct writer* writer) {
  if (writer->room > 0) writer->at[writer->length < writer->room ? writer->length : writer->room - 1] = '\0';
  return writer->length;
}

size_t onnxar_reader_walk_site(const onnxar_reader_walk* walk, char* buffer, size_t size) {
  struct writer writer = {buffer, size, 0};
  for (int i = 1; i <= walk->depth + 1 && walk->frames[i].step; ++i) {
    if (i > 1) put(&writer, '.');
    put_text(&writer, walk->frames[i].step->label);
    if (!walk->frames[i].step->is_repeated) continue;
    put(&writer, '[');
    put_number(&writer, walk->frames[i].index);
    put(&writer, ']');
  }
  return end_text(&writer);
}

const char* onnxar_reader_message(const onnxar_reader_error* error, char* buffer, size_t size) {
  static const char digits[] = "0123456789abcdef";
  struct writer writer = {buffer, size, 0};
  put_text(&writer, error->code);
  for (size_t i = 0; i < error->entry_length && i < LONGEST_NAME; ++i) {
    const unsigned char c = (unsigned char)error->entry[i];
    if (i == 0) put_text(&writer, ": entry \"");
    if (c >= 0x20 && c < 0x7F && c != '\\') {
      put(&writer, (char)c);
    } else {
      put_text(&writer, "\\x");
      put(&writer, digits[c >> 4]);
      put(&writer, digits[c & 15]);
    }
  }
  if (error->entry_length > 0) put(&writer, '"');
  if (error->offset != OAR_NO_OFFSET) {
    put_text(&writer, error->entry_length > 0 ? " at " : ": at ");
    put_number(&writer, error->offset);
  }
  put_text(&writer, ": ");
  put_text(&writer, error->sentence);
  end_text(&writer);
  return buffer;
}

/* --- Superseded states (T2) --------------------------------------------------------------------------------------- */

/* A state of the file ends at `cut`. It is in the tail after the entry `tail`, or in a tail of a state in that tail. */
struct cut {
  uint64_t at;
  size_t tail;
};

/* Cuts as a heap: the largest is first, and of equal ones the one of the first tail. */
struct cuts {
  struct cut* items;
  size_t count, room;
};

static int comes_first(struct cut a, struct cut b) { return a.at != b.at ? a.at > b.at : a.tail < b.tail; }

static int push_cut(const onnxar_reader* r, struct cuts* heap, uint64_t at, size_t tail, onnxar_reader_error* e) {
  const struct cut cut = {at, tail};
  size_t place = heap->count;
  if (heap->count == heap->room) {
    struct cut* items = (struct cut*)take(r, heap->room * 2 + 16, sizeof *items, e);
    if (!items) return -1;
    if (heap->count > 0) memcpy(items, heap->items, heap->count * sizeof *items);
    drop(r, heap->items);
    heap->items = items;
    heap->room = heap->room * 2 + 16;
  }
  for (++heap->count; place > 0 && comes_first(cut, heap->items[(place - 1) / 2]); place = (place - 1) / 2) {
    heap->items[place] = heap->items[(place - 1) / 2];
  }
  heap->items[place] = cut;
  return 0;
}

static struct cut pop_cut(struct cuts* heap) {
  const struct cut first = heap->items[0], last = heap->items[--heap->count];
  size_t place = 0, child;
  while ((child = 2 * place + 1) < heap->count) {
    if (child + 1 < heap->count && comes_first(heap->items[child + 1], heap->items[child])) ++child;
    if (!comes_first(heap->items[child], last)) break;
    heap->items[place] = heap->items[child];
    place = child;
  }
  heap->items[place] = last;
  return first;
}

/* Adds the states in the tails of an archive whose local headers are proved. */
static int push_tails(const onnxar_reader* r, struct cuts* heap, const size_t* tail, onnxar_reader_error* e) {
  for (size_t i = 0; i < r->count; ++i) {
    if (data_of(r, i) + r->entries[i].size == following(r, i)) continue;
    if (push_cut(r, heap, following(r, i), tail ? *tail : i, e) < 0) return -1;
  }
  return 0;
}

/* Opens a state without the user's limits, and proves its local headers. */
static int check_state(const onnxar_reader* r, struct cut cut, struct cuts* heap, onnxar_reader_error* e) {
  onnxar_reader state;
  int result;
  memset(&state, 0, sizeof state);
  state.memory = r->memory;
  state.source = r->source;
  state.source.size = cut.at;
  state.options = r->options;
  state.options.max_entries = state.options.max_directory = UINT64_MAX;
  state.options.max_model = MODEL_LIMIT;
  result = open_state(&state, e) < 0 || prove_all(&state, e) < 0 || push_tails(&state, heap, &cut.tail, e) < 0 ? -1 : 0;
  drop_state(&state);
  return result;
}

/* T2. Goes through all states from the last to the first, each once, and remembers the first tail with a broken one. */
static int check_tails(const onnxar_reader* r, onnxar_reader_error* e) {
  struct cuts heap = {NULL, 0, 0};
  size_t broken = r->count;
  uint64_t before = UINT64_MAX;
  int result = push_tails(r, &heap, NULL, e);
  while (result == 0 && heap.count > 0) {
    const struct cut cut = pop_cut(&heap);
    if (cut.at == before || cut.tail >= broken) continue;
    before = cut.at;
    if (check_state(r, cut, &heap, e) == 0) continue;
    if (is_of_machine(e)) result = -1;
    broken = cut.tail;
  }
  drop(r, heap.items);
  if (result < 0 || broken == r->count) return result;
  return refuse_name(e, "T2", &r->entries[broken], data_of(r, broken) + r->entries[broken].size);
}

/* --- Metadata (G3, G4) -------------------------------------------------------------------------------------------- */

/* The model could be added to the archive as the graph of this name. */
static int is_free(const onnxar_reader* r, struct text own) {
  unsigned char name[LONGEST_NAME];
  const size_t length = own.length + sizeof GRAPH_ENDING - 1;
  if (own.length == 0 || length > LONGEST_NAME || memchr(own.at, '/', own.length)) return 0;
  memcpy(name, own.at, own.length);
  memcpy(name + own.length, GRAPH_ENDING, sizeof GRAPH_ENDING - 1);
  if (broken_by_name(name, length) || is_reserved(name, length)) return 0;
  for (size_t i = 0; i < r->count; ++i) {
    const unsigned char* other = name_of(&r->entries[i]);
    const size_t other_length = name_length(&r->entries[i]);
    if (other_length < length || !is_same_text(other, name, length)) continue;
    if (other_length == length || other[length] == '/') return 0;
  }
  return 1;
}

/* G4 of the model, or G3 of a graph, after its walk came to the end. Damaged pairs are passed over. */
static int check_metadata(onnxar_reader_walk* w) {
  const unsigned char *at = w->begin, *tag, *blamed, *named = NULL;
  struct text own = {NULL, 0}, pair[2];
  const int is_model = is_last(w->r, w->index);
  while ((tag = at) < w->frames[0].end) {
    onnxar_reader_field field;
    if (next_field(w, &at, w->frames[0].end, &field) < 0) return -1;
    if (field.number != 14 || field.wire_type != 2 || read_pair(&field, pair, &blamed)) continue;
    if (!is_model && begins(pair[0], "onnxar.link.")) return refuse_at(w, "G3", tag);
    if (!is_model || !is_text(pair[0], "onnxar.model.name")) continue;
    if (named) return refuse_at(w, "G4", tag);
    named = tag;
    own = pair[1];
  }
  return named && !is_free(w->r, own) ? refuse_at(w, "G4", named) : 0;
}

/* --- Stages check and check data ---------------------------------------------------------------------------------- */

/* Steps 62 to 64 of the model, and then of each graph. */
static int check_models(const onnxar_reader* r, onnxar_reader_error* e) {
  onnxar_reader_walk* w = NULL;
  int result = onnxar_reader_walk_open(r, r->count - 1, &w, e);
  for (size_t next = 0; result == 0; ++next) {
    onnxar_reader_tensor tensor;
    int more = 1;
    while (more > 0) more = walk_on(w, &tensor);
    if (more < 0 || check_metadata(w) < 0) {
      *e = w->error;
      result = -1;
      break;
    }
    while (next < r->count && !onnxar_reader_is_graph(r, next)) ++next;
    if (next >= r->count) break;
    result = begin_walk(w, next, e);
  }
  onnxar_reader_walk_close(w);
  return result;
}

int onnxar_reader_verify(const onnxar_reader* archive, size_t index, onnxar_reader_error* error) {
  struct crc crc;
  if (index >= archive->count) return refuse_index(error);
  crc_begin(&crc);
  return check_crc(archive, index, &crc, error);
}

int onnxar_reader_check(const onnxar_reader* archive, unsigned flags, onnxar_reader_error* error) {
  onnxar_reader_error own;
  struct crc crc;
  if (!error) error = &own;
  if (prove_all(archive, error) < 0 || check_tails(archive, error) < 0 || check_models(archive, error) < 0) return -1;
  if (!(flags & OAR_CHECK_DATA)) return 0;
  crc_begin(&crc);
  for (size_t i = 0; i < archive->count; ++i) {
    if (check_crc(archive, i, &crc, error) < 0) return -1;
  }
  return 0;
}

/* --- Values and fields -------------------------------------------------------------------------------------------- */

int onnxar_reader_next_field(const void** message, size_t* size, onnxar_reader_field* field) {
  const unsigned char *at = (const unsigned char*)*message, *end = at + *size, *blamed;
  if (*size == 0) return 0;
  if (read_field(&at, end, field, &blamed)) return -1;
  *message = at;
  *size = (size_t)(end - at);
  return 1;
}

void onnxar_reader_values_begin(const onnxar_reader_tensor* tensor, onnxar_reader_values* values) {
  values->at = values->run_end = (const unsigned char*)tensor->message;
  values->end = values->at + (tensor->kind == OAR_TYPED ? tensor->message_size : 0);
  values->field = tensor->field;
}

static double real_of(const unsigned char* at, int is_double) {
  double number;
  float narrow;
  const uint64_t wide_bits = is_double ? u64(at) : 0;
  const uint32_t bits = is_double ? 0 : u32(at);
  memcpy(&number, &wide_bits, sizeof number);
  memcpy(&narrow, &bits, sizeof narrow);
  return is_double ? number : (double)narrow;
}

static void set_value(onnxar_reader_value* value, int field, const unsigned char* at, uint64_t number) {
  memset(value, 0, sizeof *value);
  if (field == 4 || field == 10) value->real = real_of(at, field == 10);
  value->whole = number;
  value->integer = field == 5 ? (int32_t)(uint32_t)number : (int64_t)number;
}

/* A packed run goes up to run_end; between the runs the fields of the message are read. */
int onnxar_reader_values_next(onnxar_reader_values* values, onnxar_reader_value* value) {
  const uint32_t own = wire_type_of((uint32_t)values->field);
  const unsigned char* blamed;
  onnxar_reader_field field;
  while (values->at == values->run_end) {
    if (values->at == values->end || read_field(&values->at, values->end, &field, &blamed)) return 0;
    values->run_end = values->at;
    if (field.number != (uint32_t)values->field || (field.wire_type != 2 && field.wire_type != own)) continue;
    if (field.wire_type == own) {
      set_value(value, values->field, field.data, field.value);
      value->text = own == 2 ? (const char*)field.data : NULL;
      value->text_length = own == 2 ? field.length : 0;
      return 1;
    }
    values->at = field.data;
  }
  if (own == 0) {
    uint64_t number = 0;
    read_varint(&values->at, values->run_end, &number);
    set_value(value, values->field, values->at, number);
  } else {
    set_value(value, values->field, values->at, 0);
    values->at += own == 1 ? 8 : 4;
  }
  return 1;
}

/* --- Entries ------------------------------------------------------------------------------------------------------ */

size_t onnxar_reader_count(const onnxar_reader* archive) { return archive->count; }
size_t onnxar_reader_model(const onnxar_reader* archive) { return archive->count - 1; }

int onnxar_reader_get_entry(const onnxar_reader* archive, size_t index, onnxar_reader_entry* entry,
                            onnxar_reader_error* error) {
  if (index >= archive->count) return refuse_index(error);
  entry->name = (const char*)name_of(&archive->entries[index]);
  entry->name_length = name_length(&archive->entries[index]);
  entry->size = archive->entries[index].size;
  entry->crc32 = crc_of(&archive->entries[index]);
  return 0;
}

size_t onnxar_reader_find(const onnxar_reader* archive, const char* name, size_t length) {
  return find(archive, (const unsigned char*)name, length);
}

int onnxar_reader_is_graph(const onnxar_reader* archive, size_t index) {
  const size_t ending = sizeof GRAPH_ENDING - 1;
  const unsigned char* name;
  size_t length;
  if (index >= archive->count) return 0;
  name = name_of(&archive->entries[index]);
  length = name_length(&archive->entries[index]);
  return length > ending && memcmp(name + length - ending, GRAPH_ENDING, ending) == 0 && !memchr(name, '/', length);
}

size_t onnxar_reader_find_graph(const onnxar_reader* archive, const char* name, size_t length) {
  char whole[LONGEST_NAME];
  size_t index;
  if (length == 0 || length > LONGEST_NAME - sizeof GRAPH_ENDING) return OAR_NOT_FOUND;
  memcpy(whole, name, length);
  memcpy(whole + length, GRAPH_ENDING, sizeof GRAPH_ENDING - 1);
  index = onnxar_reader_find(archive, whole, length + sizeof GRAPH_ENDING - 1);
  return onnxar_reader_is_graph(archive, index) ? index : OAR_NOT_FOUND;
}

int onnxar_reader_get_data(const onnxar_reader* archive, size_t index, onnxar_reader_range* range,
                           onnxar_reader_error* error) {
  if (index >= archive->count) return refuse_index(error);
  if (prove(archive, index, error) < 0) return -1;
  place_range(archive, index, 0, archive->entries[index].size, range);
  return 0;
}

int onnxar_reader_resolve(const onnxar_reader* archive, const char* location, size_t location_length, uint64_t offset,
                          const uint64_t* length, onnxar_reader_range* range, onnxar_reader_error* error) {
  const struct text name = {(const unsigned char*)location, location_length};
  size_t index;
  const char* broken = location_length == 0 ? "M8" : find_data(archive, name, offset, length, range, &index, error);
  if (broken && broken[0] == '\0') return -1;
  return broken ? refuse(error, broken, OAR_NO_OFFSET) : 0;
}

int onnxar_reader_copy(const onnxar_reader* archive, const onnxar_reader_range* range, uint64_t begin, size_t length,
                       void* buffer, onnxar_reader_error* error) {
  if (begin > range->size || length > range->size - begin || range->offset > archive->source.size ||
      range->size > archive->source.size - range->offset) {
    return fail(error, "usage.argument", "the bytes are not in the range", OAR_NO_OFFSET);
  }
  return read_at(archive, range->offset + begin, length, buffer, error);
}

/* --- Opening ------------------------------------------------------------------------------------------------------ */

/* A reader with its options, but no file. */
static onnxar_reader* new_reader(const onnxar_reader_options* options, onnxar_reader_error* e) {
  onnxar_reader none, *r;
  memset(&none, 0, sizeof none);
  if (options) none.options = *options;
  if (!none.options.allocate != !none.options.release) {
    fail(e, "usage.argument", "allocate and release are given both or not at all", OAR_NO_OFFSET);
    return NULL;
  }
  if (none.options.max_entries == 0) none.options.max_entries = 1 << 20;
  if (none.options.max_directory == 0) none.options.max_directory = 1 << 28;
  if (none.options.max_model == 0 || none.options.max_model > MODEL_LIMIT) none.options.max_model = MODEL_LIMIT;
  r = (onnxar_reader*)take(&none, 1, sizeof none, e);
  if (r) *r = none;
  return r;
}

/* Stage open of a reader that has its file. */
static int finish_opening(onnxar_reader* r, onnxar_reader** archive, onnxar_reader_error* e) {
  onnxar_reader_error why;
  why.rule = "";
  if (open_state(r, &why) == 0) {
    *archive = r;
    return 0;
  }
  if (strcmp(why.rule, "E1") == 0) refuse_end(r, &why);
  if (e) *e = why;
  onnxar_reader_close(r);
  return -1;
}

int onnxar_reader_open_memory(const void* data, size_t size, const onnxar_reader_options* options,
                              onnxar_reader** archive, onnxar_reader_error* error) {
  static const unsigned char nothing[1] = {0};
  onnxar_reader* r;
  *archive = NULL;
  if (!data && size > 0) return fail(error, "usage.argument", "there is no data", OAR_NO_OFFSET);
  r = new_reader(options, error);
  if (!r) return -1;
  r->memory = data ? (const unsigned char*)data : nothing;
  r->source.size = size;
  return finish_opening(r, archive, error);
}

int onnxar_reader_open_source(const onnxar_reader_source* source, const onnxar_reader_options* options,
                              onnxar_reader** archive, onnxar_reader_error* error) {
  onnxar_reader* r;
  *archive = NULL;
  if (!source || !source->read) return fail(error, "usage.argument", "there is no read function", OAR_NO_OFFSET);
  r = new_reader(options, error);
  if (!r) return -1;
  r->source = *source;
  return finish_opening(r, archive, error);
}

#ifndef OAR_NO_STDIO

static int fail_by_system(onnxar_reader_error* e, int number) {
  if (number == ENOENT) return fail(e, "io.not_found", "there is no such file", OAR_NO_OFFSET);
  if (number == EACCES) return fail(e, "io.permission", "the file may not be read", OAR_NO_OFFSET);
  if (number == EISDIR) return fail(e, "io.not_a_file", "this is not a regular file", OAR_NO_OFFSET);
  return fail(e, "io.failed", "the file cannot be read", OAR_NO_OFFSET);
}

#ifdef OAR_NO_MMAP

static void release_file(onnxar_reader* r) { drop(r, r->mapping); }

/* Reads the whole file. */
static int map_file(onnxar_reader* r, const char* path, onnxar_reader_error* e) {
  FILE* file = fopen(path, "rb");
  long size = -1;
  int result = -1;
  if (!file) return fail_by_system(e, errno);
  if (fseek(file, 0, SEEK_END) == 0) size = ftell(file);
  if (size < 0 || size == LONG_MAX || fseek(file, 0, SEEK_SET) != 0) {
    fail_by_system(e, EISDIR);
  } else {
    r->mapping = take(r, (uint64_t)size, 1, e);
    r->memory = (const unsigned char*)r->mapping;
    r->source.size = (uint64_t)size;
    if (r->mapping) result = fread(r->mapping, 1, (size_t)size, file) == (size_t)size ? 0 : fail_by_system(e, errno);
  }
  fclose(file);
  return result;
}

#elif defined(_WIN32)

static void release_file(onnxar_reader* r) { UnmapViewOfFile(r->mapping); }

static HANDLE open_file(const char* path, onnxar_reader_error* e) {
  wchar_t wide[4096];
  HANDLE file = INVALID_HANDLE_VALUE;
  SetLastError(ERROR_FILE_NOT_FOUND);
  if (MultiByteToWideChar(CP_UTF8, MB_ERR_INVALID_CHARS, path, -1, wide, 4096) > 0) {
    file = CreateFileW(wide, GENERIC_READ, FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE, NULL, OPEN_EXISTING,
                       FILE_ATTRIBUTE_NORMAL, NULL);
  }
  if (file == INVALID_HANDLE_VALUE) {
    const DWORD why = GetLastError();
    const int is_missing = why == ERROR_FILE_NOT_FOUND || why == ERROR_PATH_NOT_FOUND;
    fail_by_system(e, is_missing ? ENOENT : why == ERROR_ACCESS_DENIED ? EACCES : 0);
  }
  return file;
}

static int map_file(onnxar_reader* r, const char* path, onnxar_reader_error* e) {
  static const unsigned char nothing[1] = {0};
  HANDLE file = open_file(path, e), section;
  LARGE_INTEGER size;
  if (file == INVALID_HANDLE_VALUE) return -1;
  size.QuadPart = 0;
  if (!GetFileSizeEx(file, &size)) size.QuadPart = -1;
  section = size.QuadPart > 0 ? CreateFileMappingW(file, NULL, PAGE_READONLY, 0, 0, NULL) : NULL;
  CloseHandle(file);
  if (section && (uint64_t)size.QuadPart <= SIZE_MAX) {
    r->mapping = MapViewOfFile(section, FILE_MAP_READ, 0, 0, (SIZE_T)size.QuadPart);
  }
  if (section) CloseHandle(section);
  if (size.QuadPart != 0 && !r->mapping) return fail_by_system(e, 0);
  r->memory = r->mapping ? (const unsigned char*)r->mapping : nothing;
  r->source.size = (uint64_t)size.QuadPart;
  return 0;
}

#else

static void release_file(onnxar_reader* r) { munmap(r->mapping, (size_t)r->source.size); }

static int map_file(onnxar_reader* r, const char* path, onnxar_reader_error* e) {
  static const unsigned char nothing[1] = {0};
  const int file = open(path, O_RDONLY | O_CLOEXEC);
  struct stat status;
  void* mapping = NULL;
  int number = 0;
  if (file < 0 || fstat(file, &status) != 0) {
    number = errno;
  } else if (!S_ISREG(status.st_mode)) {
    number = EISDIR;
  } else if ((uint64_t)status.st_size > SIZE_MAX) {
    number = ENOMEM;
  } else if (status.st_size > 0) {
    mapping = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_SHARED, file, 0);
    if (mapping == MAP_FAILED) number = errno;
  }
  if (file >= 0) close(file);
  if (number == ENOMEM) return fail(e, "io.address_space", "the file is too large to be mapped here", OAR_NO_OFFSET);
  if (number != 0) return fail_by_system(e, number);
  r->mapping = mapping;
  r->memory = mapping ? (const unsigned char*)mapping : nothing;
  r->source.size = (uint64_t)status.st_size;
  return 0;
}

#endif

int onnxar_reader_open(const char* path, const onnxar_reader_options* options, onnxar_reader** archive,
                       onnxar_reader_error* error) {
  onnxar_reader* r = new_reader(options, error);
  *archive = NULL;
  if (!r) return -1;
  if (map_file(r, path, error) == 0) return finish_opening(r, archive, error);
  onnxar_reader_close(r);
  return -1;
}

#endif

void onnxar_reader_close(onnxar_reader* archive) {
  onnxar_reader_options options;
  if (!archive) return;
  drop_state(archive);
#ifndef OAR_NO_STDIO
  if (archive->mapping) release_file(archive);
#endif
  options = archive->options;
  drop_bytes(&options, archive);
}
