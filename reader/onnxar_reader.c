/* onnxar_reader: see onnxar_reader.h. Copyright 2026 The onnxar authors. SPDX-License-Identifier: Apache-2.0
 *
 * The code follows the order of the specification: the end of the file, names, the directory, places, local headers,
 * the wire format, tensors, stage check. Each refusal names its rule, such as "E3"; the table below maps it to the code
 * and the words. Functions return 1, or 0 after a refusal, unless their comments say otherwise. */
#if !defined(OAR_NO_STDIO) && !defined(OAR_NO_MMAP) && (defined(__unix__) || defined(__APPLE__))
#define OAR_MMAP
#ifndef _POSIX_C_SOURCE
#define _POSIX_C_SOURCE 200809L
#endif
#endif

#include "onnxar_reader.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#ifdef OAR_MMAP
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#elif !defined(OAR_NO_STDIO)
#include <stdio.h>
#endif

typedef unsigned char byte;
typedef const onnxar_reader reader;
typedef onnxar_reader_walk walker;
typedef onnxar_reader_error fault;
typedef onnxar_reader_field field;

/* --- The rules, and the state of a reader ------------------------------------------------------------------------- */
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
    {"D1", "zip.directory.header", "a directory header is missing here, or extends beyond the directory"},
    {"D2", "zip.entry.encrypted", "the entry is encrypted"},
    {"D3", "zip.entry.descriptor", "the entry has a data descriptor"},
    {"D4", "zip.entry.flags", "a flag is set that no archive has"},
    {"D5", "zip.entry.method", "the entry is not stored"},
    {"D6 L13", "zip.entry.version", "the version needed is not from 10 to 45"},
    {"D7", "zip.entry.disk", "the entry is on another disk"},
    {"D8", "zip.entry.comment", "the entry has a comment"},
    {"D9", "zip.entry.attributes", "the attributes are not those of a regular file"},
    {"D10 L4", "zip.extra.malformed", "the extra fields do not fill their stated length"},
    {"D11 L5", "zip.extra.unknown", "there is an extra field that archives do not have here"},
    {"D12 L6", "zip.extra.duplicate", "an extra field occurs twice, or there is a second padding record"},
    {"D13 L7", "zip.zip64.extra", "the zip64 field does not hold the values that it should"},
    {"D14", "zip.entry.sizes", "size and compressed size differ"},
    {"D15", "zip.entry.empty_crc", "the CRC-32 of no bytes is not 0"},
    {"D16 L14", "zip.extra.alignment", "the alignment is not a power of two from 64 to 16384, or the headers differ"},
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
    {"L1 L15", "zip.local.header", "the local header is missing, has more than 65535 bytes, or overlaps what follows"},
    {"L2", "zip.local.name", "the local header has another name"},
    {"L3", "zip.local.field", "a field of the local header differs from the directory's"},
    {"L8", "zip.local.size", "a size in the local header differs from the directory's"},
    {"L10", "zip.padding.record", "the padding is not an alignment and zeros"},
    {"L11 L12", "zip.padding.alignment", "the padding record has a wrong alignment, or the data is not aligned"},
    {"T1", "zip.data.crc", "the data has another CRC-32 than stated"},
    {"T2", "archive.tail.prefix", "the superseded bytes after the data do not end in an archive"},
    {"M1", "onnx.model.invalid", "this is not an ONNX model: it has no graph"},
    {"M2", "wire.truncated", "a field does not end in its message"},
    {"M3", "wire.varint", "a varint has more than 10 bytes or 64 bits"},
    {"M4", "wire.tag", "a tag is too long, or its field number is out of range"},
    {"M5", "wire.type", "a field has a wire type other than 0, 1, 2 and 5"},
    {"M6", "wire.depth", "messages nest more than 100 deep"},
    {"M7", "wire.repeated_message", "a message occurs twice that may occur only once"},
    {"M8", "onnx.external_data.no_location", "the linked tensor has no location"},
    {"M9", "onnx.external_data.missing", "there is no entry of the name that the location states"},
    {"M10", "onnx.external_data.duplicate_key", "a key of external_data occurs twice"},
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
    {"G6", "archive.graph.shadow", "an entry in the graph's folder would be taken for the one that the tensor names"},
};

enum { END_SIZE = 22, LOCATOR_SIZE = 20, ZIP64_END_SIZE = 56, HEADER_SIZE = 46, LOCAL_SIZE = 30 }; /* of records */
enum { LONGEST_LOCAL = 65535, LONGEST_NAME = 1024, MOST_DIMS = 1024, DEEPEST = 100, PIECE = 16384 };
static const uint32_t NONE_16 = 0xFFFF, NONE_32 = 0xFFFFFFFF; /* sentinels */
static const uint64_t MODEL_LIMIT = 0x7FFFFFFF;
static const char MODEL_NAME[] = "__MODEL_PROTO", GRAPH_ENDING[] = ".onnx";

struct entry {
  const byte* header;    /* in the directory */
  uint64_t offset, size; /* of the local header; of the data */
  uint32_t hash;         /* of the name without case */
  uint16_t proof;        /* 0: not used yet; else the distance from the local header to the data */
  uint16_t alignment;    /* as the directory states it; or 0 */
};
/* The values of the end records. */
struct end {
  uint64_t count, size, offset; /* of the entries; of the directory */
  int has_zip64;
};
struct onnxar_reader {
  const byte* memory;          /* the file; NULL if `source` reads it */
  onnxar_reader_source source; /* its size counts in both cases */
  onnxar_reader_options options;
  struct end end;
  byte* directory; /* a copy: mapped bytes may change */
  struct entry* entries;
  size_t count;
  uint32_t *names, *buckets; /* indices of entries, ordered by bucket and name; where in `names` a bucket begins */
  unsigned bucket_bits;
  void* mapping;     /* or the file that was read into memory */
  struct cuts* cuts; /* of a superseded state: where zeros are left to check for the tail `tail` */
  size_t tail;
};
/* A stored proof may be read while another thread stores the same one: all of them write the same number. */
#if defined(__GNUC__) || defined(__clang__)
#define LOAD_PROOF(entry) __atomic_load_n(&(entry)->proof, __ATOMIC_RELAXED)
#define STORE_PROOF(entry, value) __atomic_store_n(&(entry)->proof, value, __ATOMIC_RELAXED)
#else
#define LOAD_PROOF(entry) (*(const volatile uint16_t*)&(entry)->proof)
#define STORE_PROOF(entry, value) (*(volatile uint16_t*)&(entry)->proof = (value))
#endif
static uint32_t u16(const byte* at) { return (uint32_t)at[0] | (uint32_t)at[1] << 8; }
static uint32_t u32(const byte* at) { return u16(at) | u16(at + 2) << 16; }
static uint64_t u64(const byte* at) { return u32(at) | (uint64_t)u32(at + 4) << 32; }
/* D6, E6 and L13. */
static int is_version(const byte* at) { return u16(at) >= 10 && u16(at) <= 45; }
static int is_signed(const byte* at, const char* signature) { return memcmp(at, signature, 4) == 0; }
static const byte* name_of(const struct entry* entry) { return entry->header + HEADER_SIZE; }
static size_t length_of(const struct entry* entry) { return u16(entry->header + 28); }
static uint32_t crc_of(const struct entry* entry) { return u32(entry->header + 16); }
static int is_last(reader* r, size_t index) { return index + 1 == r->count; }
/* Returns the offset of the next local header, or of the directory after the last entry. */
static uint64_t following(reader* r, size_t index) {
  return is_last(r, index) ? r->end.offset : r->entries[index + 1].offset;
}
/* Returns the offset of the data of an entry that was used. */
static uint64_t data_of(reader* r, size_t index) { return r->entries[index].offset + LOAD_PROOF(&r->entries[index]); }

static int fail(fault* e, const char* code, const char* sentence) {
  if (!e) return 0;
  memset(e, 0, sizeof *e);
  e->code = code;
  e->rule = "";
  e->sentence = sentence;
  e->offset = OAR_NO_OFFSET;
  return 0;
}
/* `entry` may be NULL. */
static int refuse(fault* e, const char* rule, const struct entry* entry, uint64_t offset) {
  const size_t length = strlen(rule);
  size_t row = 0;
  const char* id;
  if (!e) return 0;
  while (!(id = strstr(rules[row].ids, rule)) || (id[length] != '\0' && id[length] != ' ')) ++row;
  fail(e, rules[row].code, rules[row].breach);
  e->rule = rule;
  e->offset = offset;
  if (!entry) return 0;
  e->entry_length = length_of(entry);
  memcpy(e->entry, name_of(entry), e->entry_length < LONGEST_NAME ? e->entry_length : (size_t)LONGEST_NAME);
  return 0;
}
static uint64_t header_offset(reader* r, const struct entry* entry) {
  return r->end.offset + (uint64_t)(entry->header - r->directory);
}
static int refuse_header(reader* r, fault* e, const char* rule, const struct entry* entry) {
  return refuse(e, rule, entry, header_offset(r, entry));
}
static void drop(reader* r, void* block) {
  if (block && r->options.release) r->options.release(r->options.allocator_context, block);
  if (!r->options.release) free(block);
}
/* Returns zeroed memory; NULL after a failure. `count` counts things in a file, so the product does not overflow. */
static void* take(reader* r, uint64_t count, size_t width, fault* e) {
  const uint64_t size = count == 0 ? width : count * width;
  const onnxar_reader_options* own = &r->options;
  void* block = NULL;
  if (size <= SIZE_MAX)
    block = own->allocate ? own->allocate(own->allocator_context, (size_t)size) : calloc(1, (size_t)size);
  if (block) return own->allocate ? memset(block, 0, (size_t)size) : block;
  fail(e, "io.failed", "there is not enough memory");
  return NULL;
}
/* Copies bytes of the file, also from memory, so that checked bytes cannot change before they are used. */
static int copy_in(reader* r, uint64_t offset, size_t length, void* room, fault* e) {
  if (length == 0) return 1;
  if (r->memory) memcpy(room, r->memory + (size_t)offset, length);
  if (r->memory || r->source.read(r->source.context, offset, length, room) == 0) return 1;
  fail(e, "io.failed", "the source cannot read these bytes");
  if (e) e->offset = offset;
  return 0;
}
/* Copies bytes of the file into new memory, which the caller frees. Returns NULL after a failure. */
static byte* copy_of(reader* r, uint64_t offset, uint64_t length, fault* e) {
  byte* block = (byte*)take(r, length, 1, e);
  if (!block || copy_in(r, offset, (size_t)length, block, e)) return block;
  drop(r, block);
  return NULL;
}

/* --- The end of the file (E) -------------------------------------------------------------------------------------- */
/* Steps 5 to 9. `record` is the end record, which is at `at`, after 76 bytes if the file has so many. */
static int read_zip64_end(const byte* record, uint64_t at, struct end* end, fault* e) {
  const byte *locator = record - LOCATOR_SIZE, *wide;
  const uint64_t locator_at = at - LOCATOR_SIZE, wide_at = locator_at - ZIP64_END_SIZE;
  if (u32(locator + 4) != 0 || u32(locator + 16) != 1) return refuse(e, "E4", NULL, locator_at);
  if (locator_at < ZIP64_END_SIZE || u64(locator + 8) != wide_at) return refuse(e, "E5", NULL, locator_at);
  wide = locator - ZIP64_END_SIZE;
  if (!is_signed(wide, "PK\6\6") || u64(wide + 4) != 44 || !is_version(wide + 14))
    return refuse(e, "E6", NULL, wide_at);
  end->count = u64(wide + 32);
  end->size = u64(wide + 40);
  end->offset = u64(wide + 48);
  end->has_zip64 = 1;
  if (u64(wide + 16) != 0 || u64(wide + 24) != end->count) return refuse(e, "E4", NULL, wide_at);
  if ((u16(record + 10) != NONE_16 && u16(record + 10) != end->count) ||
      (u32(record + 12) != NONE_32 && u32(record + 12) != end->size) ||
      (u32(record + 16) != NONE_32 && u32(record + 16) != end->offset)) {
    return refuse(e, "E7", NULL, at);
  }
  return 1;
}
/* Steps 1 to 10, for the first `size` bytes of the file. */
static int read_end(reader* r, uint64_t size, struct end* end, fault* e) {
  enum { ALL = END_SIZE + LOCATOR_SIZE + ZIP64_END_SIZE };
  byte room[ALL];
  const size_t length = size < ALL ? (size_t)size : (size_t)ALL;
  const byte* record;
  uint64_t at = size - END_SIZE, ends_at = at;
  if (!copy_in(r, size - length, length, room, e)) return 0;
  if (length < END_SIZE || !is_signed(room + length - END_SIZE, "PK\5\6")) return refuse(e, "E1", NULL, size);
  record = room + length - END_SIZE;
  if (u16(record + 20) != 0) return refuse(e, "E3", NULL, at);
  if (u32(record + 4) != 0 || u16(record + 8) != u16(record + 10)) return refuse(e, "E4", NULL, at);
  end->count = u16(record + 10);
  end->size = u32(record + 12);
  end->offset = u32(record + 16);
  end->has_zip64 = 0;
  if (length >= END_SIZE + LOCATOR_SIZE && is_signed(record - LOCATOR_SIZE, "PK\6\7")) {
    if (!read_zip64_end(record, at, end, e)) return 0;
    ends_at -= LOCATOR_SIZE + ZIP64_END_SIZE;
  } else if (end->count == NONE_16 || end->size == NONE_32 || end->offset == NONE_32) {
    return refuse(e, "E5", NULL, at);
  }
  if (end->offset > ends_at || ends_at - end->offset != end->size) return refuse(e, "E8", NULL, at);
  return 1;
}
/* Replaces E1 by E2 if an end record is near the end, or by E3 if its comment ends with the file. */
static void word_missing_end(reader* r, fault* e) {
  const uint64_t size = r->source.size, most = END_SIZE + 0xFFFF;
  const size_t length = (size_t)(size < most ? size : most);
  byte* last = copy_of(r, size - length, length, e);
  for (size_t at = length < END_SIZE ? 0 : length - END_SIZE + 1; last && at-- > 0;) {
    if (!is_signed(last + at, "PK\5\6")) continue;
    refuse(e, at + END_SIZE + u16(last + at + 20) == length ? "E3" : "E2", NULL, size - length + at);
    break;
  }
  drop(r, last);
}
/* Steps 11 to 14. */
static int check_counts(reader* r, fault* e) {
  const struct end* end = &r->end;
  const char* broken = NULL;
  if (end->size > r->options.max_directory) broken = "E12";
  if (end->count > r->options.max_entries || end->count >= NONE_32 / 4) broken = "E11";
  if (end->count > end->size / HEADER_SIZE) broken = "E10";
  if (end->count == 0) broken = "E9";
  return broken ? refuse(e, broken, NULL, end->offset) : 1;
}
/* --- Names (N) ---------------------------------------------------------------------------------------------------- */
static byte folded(byte c) { return (byte)(c >= 'A' && c <= 'Z' ? c + 32 : c); }
static int is_same_text(const byte* a, const byte* b, size_t length) {
  while (length > 0 && folded(a[length - 1]) == folded(b[length - 1])) --length;
  return length == 0;
}
/* Returns FNV-1a of the lower-case bytes. Names may be chosen to share a hash, so buckets are sorted. */
static uint32_t hash_step(uint32_t hash, byte c) { return (hash ^ folded(c)) * 0x01000193u; }
static uint32_t hash_of(const byte* name, size_t length) {
  uint32_t hash = 0x811C9DC5u;
  for (size_t i = 0; i < length; ++i) hash = hash_step(hash, name[i]);
  return hash;
}
/* N17. */
static int is_device(const byte* part, size_t length) {
  static const char* const devices[] = {"con", "prn", "aux", "nul", "conin$", "conout$", "com", "lpt"};
  const byte* dot;
  if (!memchr("cpanl", folded(part[0]), 5)) return 0; /* most begin otherwise */
  dot = (const byte*)memchr(part, '.', length);
  if (dot) length = (size_t)(dot - part);
  while (length > 0 && part[length - 1] == ' ') --length;
  for (size_t i = 0; i < 8; ++i) {
    const size_t whole = strlen(devices[i]) + (i >= 6); /* the last two are followed by a digit */
    if (length != whole || !is_same_text(part, (const byte*)devices[i], strlen(devices[i]))) continue;
    if (i < 6 || (part[3] >= '0' && part[3] <= '9')) return 1;
  }
  return 0;
}
/* Returns the first of N9, N15, N16 and N17 that a part breaks, as an index; 4 if it breaks none. */
static int broken_by_part(const byte* part, size_t length) {
  if (length == 0 || (part[0] == '.' && (length == 1 || (length == 2 && part[1] == '.')))) return 0;
  if (length > 255) return 1;
  if (part[length - 1] == '.' || part[length - 1] == ' ') return 2;
  return is_device(part, length) ? 3 : 4;
}
/* Step 17: checks each rule in all parts before the next rule. Returns the broken rule, or NULL. */
static const char* broken_by_name(const byte* name, size_t length) {
  static const char* const ids[] = {"N9", "N15", "N16", "N17", NULL};
  int first = 4, broken;
  if (length > LONGEST_NAME) return "N2";
  for (size_t i = 0; i < length; ++i) {
    if ((name[i] >= '_' && name[i] <= 'z') || (name[i] >= '.' && name[i] <= '9')) continue; /* most are */
    if (name[i] < 0x20 || name[i] > 0x7E || strchr("\\:*?\"<>|;", name[i])) return "N14";
  }
  if (name[0] == '/') return "N6";
  if (name[length - 1] == '/') return "N8";
  for (size_t begin = 0, end; begin <= length; begin = end + 1) {
    const byte* slash = (const byte*)memchr(name + begin, '/', length - begin);
    end = slash ? (size_t)(slash - name) : length;
    broken = broken_by_part(name + begin, end - begin);
    if (broken < first) first = broken;
  }
  return ids[first];
}
/* N13, whose one exception is the model's name. */
static int is_reserved(const byte* name, size_t length) {
  return length >= 3 && name[0] == '_' && name[1] == '_' && name[2] >= 'A' && name[2] <= 'Z';
}
enum { ZIP64_ID = 1, PADDING_ID = 0xD935, ALIGNMENT_ID = 0xA11E };
/* A header with its extra fields. Only the front of a local one is in memory; peek reads the rest if needed. */
struct header {
  reader* r;
  fault* e;
  uint64_t offset;                                 /* in the file */
  const byte *bytes, *zip64;                       /* `zip64`: the content of the field; NULL without it */
  size_t known, zip64_size, padding, padding_size; /* `padding`: where the content is in the header; 0 without it */
  uint32_t padding_id, alignment;
  byte room[28];
};
/* Returns NULL if the bytes cannot be read. */
static const byte* peek(struct header* header, size_t at, size_t count) {
  if (at + count <= header->known) return header->bytes + at;
  return copy_in(header->r, header->offset + at, count, header->room, header->e) ? header->room : NULL;
}
/* Steps 24 to 26 and 49 to 51; `ids` are D10 to D12 or L4 to L6. Returns the broken rule, "" if the source fails, or
 * NULL. Reads no number twice: it could change between a check and its use. */
static const char* read_extras(struct header* header, size_t at, size_t end, const char* const ids[3]) {
  for (size_t size; at < end; at += size) {
    const byte* found = peek(header, at, end - at < 4 ? 0 : 4);
    const uint32_t id = found && end - at >= 4 ? u16(found) : 0;
    const int is_zip64 = id == ZIP64_ID;
    const size_t used = is_zip64 ? sizeof header->room : 2;
    if (!found) return "";
    size = end - at < 4 ? 4 : u16(found + 2);
    if (end - at < 4 + size) return ids[0];
    if (!is_zip64 && id != ALIGNMENT_ID && (id != PADDING_ID || ids[0][0] == 'D')) return ids[1];
    if (is_zip64 ? header->zip64 != NULL : header->padding != 0) return ids[2];
    at += 4;
    found = peek(header, at, size < used ? size : used);
    if (!found) return "";
    if (is_zip64) header->zip64 = found; /* a field after it that is not known is refused */
    if (is_zip64) header->zip64_size = size;
    if (is_zip64) continue;
    header->padding_id = id;
    header->padding = at;
    header->padding_size = size;
    header->alignment = size < 2 ? 0 : u16(found);
  }
  return NULL;
}
/* D16 and L11. */
static int is_alignment(uint32_t id, uint32_t number) {
  return number >= 64 && number <= (id == ALIGNMENT_ID ? 16384u : 32768u) && (number & (number - 1)) == 0;
}
/* D13: size, compressed size and offset as header and zip64 field state them. The field has only the values of the
 * sentinels; or all three, and in the header all sentinels precede the other values. */
static int read_wide(const byte* header, const struct header* extras, uint64_t values[3]) {
  const uint32_t own[3] = {u32(header + 24), u32(header + 20), u32(header + 42)};
  const byte* at = extras->zip64;
  size_t sentinels = 0, leading = 0;
  int is_short;
  for (size_t i = 0; i < 3; ++i) {
    leading += own[i] == NONE_32 && sentinels == i;
    sentinels += own[i] == NONE_32;
  }
  is_short = extras->zip64_size == 8 * sentinels;
  if (!is_short && ((extras->zip64_size != 24 && extras->zip64_size != 28) || leading != sentinels)) return 0;
  for (size_t i = 0; i < 3; ++i) {
    values[i] = own[i];
    if (is_short && own[i] != NONE_32) continue;
    values[i] = u64(at);
    at += 8;
    if (own[i] != NONE_32 && own[i] != values[i]) return 0;
  }
  return 1;
}
/* Steps 18 to 23. Returns the broken rule, or NULL. */
static const char* broken_by_fields(const byte* header) {
  const uint32_t flags = u16(header + 8), attributes = u32(header + 38);
  const uint32_t file_type = attributes >> 16 & 0xF000;
  if (flags & (1u | 1u << 6 | 1u << 13)) return "D2";
  if (flags & 1u << 3) return "D3";
  if (flags & ~(1u << 11)) return "D4";
  if (u16(header + 10) != 0) return "D5";
  if (!is_version(header + 6)) return "D6";
  if (u16(header + 34) != 0) return "D7";
  if (u16(header + 32) != 0) return "D8";
  if ((header[5] != 0 && header[5] != 3) || (u16(header + 36) & ~1u) != 0) return "D9";
  return (file_type != 0 && file_type != 0x8000) || attributes & (1u << 3 | 1u << 4 | 1u << 10) ? "D9" : NULL;
}
/* Steps 24 to 30. Returns the broken rule, or NULL. */
static const char* broken_by_extras(struct entry* entry) {
  static const char* const ids[] = {"D10", "D11", "D12"};
  const size_t begin = HEADER_SIZE + length_of(entry), end = begin + u16(entry->header + 30);
  struct header extras = {NULL, NULL, 0, entry->header, NULL, end, 0, 0, 0, 0, 0, {0}};
  uint64_t values[3];
  const char* broken = read_extras(&extras, begin, end, ids);
  if (broken) return broken;
  if (!read_wide(entry->header, &extras, values)) return "D13";
  if (extras.zip64_size == 28 && u32(extras.zip64 + 24) != 0) return "D7";
  if (values[0] != values[1]) return "D14";
  if (values[0] == 0 && crc_of(entry) != 0) return "D15";
  entry->size = values[0];
  entry->offset = values[2];
  if (extras.padding == 0) return NULL;
  if (extras.padding_size != 2 || !is_alignment(ALIGNMENT_ID, extras.alignment)) return "D16";
  entry->alignment = (uint16_t)extras.alignment;
  return NULL;
}
/* Steps 15 to 30 of the header at `at`; `left` bytes of the directory remain from there. */
static int read_header(reader* r, struct entry* entry, const byte* at, size_t left, fault* e) {
  const char* broken;
  entry->header = at;
  if (left < HEADER_SIZE || !is_signed(at, "PK\1\2") ||
      left - HEADER_SIZE < (size_t)u16(at + 28) + u16(at + 30) + u16(at + 32)) {
    return refuse(e, "D1", NULL, header_offset(r, entry));
  }
  if (length_of(entry) == 0) return refuse(e, "N1", NULL, header_offset(r, entry));
  entry->hash = hash_of(name_of(entry), length_of(entry));
  broken = broken_by_name(name_of(entry), length_of(entry));
  if (!broken) broken = broken_by_fields(at);
  if (!broken) broken = broken_by_extras(entry);
  return broken ? refuse_header(r, e, broken, entry) : 1;
}
/* Steps 15 to 31. */
static int read_directory(onnxar_reader* r, fault* e) {
  const byte *at, *end;
  r->directory = copy_of(r, r->end.offset, r->end.size, e);
  if (r->directory) r->entries = (struct entry*)take(r, r->end.count, sizeof *r->entries, e);
  if (!r->entries) return 0;
  at = r->directory;
  end = at + (size_t)r->end.size;
  for (r->count = 0; r->count < r->end.count; ++r->count) {
    if (!read_header(r, &r->entries[r->count], at, (size_t)(end - at), e)) return 0;
    at += HEADER_SIZE + u16(at + 28) + u16(at + 30); /* there is no comment, D8 */
  }
  return at == end ? 1 : refuse(e, "E10", NULL, r->end.offset + (uint64_t)(at - r->directory));
}

/* --- Places (P1 to P4) and the table of names (N10 to N12) -------------------------------------------------------- */
/* Steps 32 to 35. From here on each local header, its name and data end in the file. */
static int check_places(reader* r, fault* e) {
  if (r->entries[0].offset != 0) return refuse_header(r, e, "P1", r->entries);
  for (size_t i = 0; i < r->count; ++i) {
    const struct entry* entry = &r->entries[i];
    const uint64_t next = following(r, i), room = next - entry->offset, least = LOCAL_SIZE + length_of(entry);
    if (entry->offset >= next) return refuse_header(r, e, is_last(r, i) ? "P4" : "P2", entry + !is_last(r, i));
    if (room < least || room - least < entry->size) return refuse(e, is_last(r, i) ? "P4" : "P3", entry, entry->offset);
  }
  return 1;
}
static size_t bucket_of(reader* r, uint32_t hash) { return (hash * 0x9E3779B1u) >> (32 - r->bucket_bits); }

/* The order of names in a bucket: by hash, length and bytes without case. Negative if the name precedes the entry's. */
static int compare_names(const byte* name, size_t length, uint32_t hash, const struct entry* entry) {
  const byte* other = name_of(entry);
  size_t i = 0;
  if (hash != entry->hash) return hash < entry->hash ? -1 : 1;
  if (length != length_of(entry)) return length < length_of(entry) ? -1 : 1;
  while (i < length && folded(name[i]) == folded(other[i])) ++i;
  return i == length ? 0 : folded(name[i]) - folded(other[i]);
}
static int compare_entries(reader* r, uint32_t a, uint32_t b) {
  const struct entry* entry = &r->entries[a];
  return compare_names(name_of(entry), length_of(entry), entry->hash, &r->entries[b]);
}
static int has_name(const struct entry* entry, const byte* name, size_t length) {
  return length_of(entry) == length && memcmp(name_of(entry), name, length) == 0;
}
/* Returns the entry with this name, ignoring case, or NULL. */
static const struct entry* find_folded(reader* r, const byte* name, size_t length, uint32_t hash) {
  size_t low = r->buckets[bucket_of(r, hash)], high = r->buckets[bucket_of(r, hash) + 1];
  while (low < high) {
    const size_t middle = low + (high - low) / 2;
    const struct entry* entry = &r->entries[r->names[middle]];
    const int order = compare_names(name, length, hash, entry);
    if (order == 0) return entry;
    if (order < 0) high = middle;
    if (order > 0) low = middle + 1;
  }
  return NULL;
}
static size_t find(reader* r, const byte* name, size_t length) {
  const struct entry* entry = length > LONGEST_NAME ? NULL : find_folded(r, name, length, hash_of(name, length));
  return entry && has_name(entry, name, length) ? (size_t)(entry - r->entries) : OAR_NOT_FOUND;
}
/* Merges halves, so that equal names stay in the order of the entries. */
static void sort_names(reader* r, uint32_t* items, size_t count, uint32_t* spare) {
  const size_t half = count / 2;
  if (count < 2) return;
  sort_names(r, items, half, spare);
  sort_names(r, items + half, count - half, spare);
  memcpy(spare, items, half * sizeof *items);
  for (size_t i = 0, a = 0, b = half; a < half; ++i)
    items[i] = b == count || compare_entries(r, spare[a], items[b]) <= 0 ? spare[a++] : items[b++];
}
/* Steps 36 and 37: refuses the first entry that has the name of an earlier one. */
static int index_names(onnxar_reader* r, fault* e) {
  size_t last, worst = 0;
  for (r->bucket_bits = 1; (uint64_t)1 << r->bucket_bits < r->count;) ++r->bucket_bits;
  last = (size_t)1 << r->bucket_bits;
  r->names = (uint32_t*)take(r, r->count + r->count / 2, sizeof *r->names, e);
  if (r->names) r->buckets = (uint32_t*)take(r, last + 1, sizeof *r->buckets, e);
  if (!r->buckets) return 0;
  for (size_t i = 0; i < r->count; ++i) ++r->buckets[bucket_of(r, r->entries[i].hash)];
  for (size_t i = 1; i <= last; ++i) r->buckets[i] += r->buckets[i - 1]; /* where each ends, until it is filled */
  for (size_t i = r->count; i-- > 0;) r->names[--r->buckets[bucket_of(r, r->entries[i].hash)]] = (uint32_t)i;
  for (size_t bucket = 0, i = 0; bucket < last; ++bucket) {
    const size_t size = r->buckets[bucket + 1] - i;
    if (size > 1) sort_names(r, r->names + i, size, r->names + r->count);
    for (++i; i < r->buckets[bucket + 1]; ++i) {
      if (compare_entries(r, r->names[i - 1], r->names[i]) != 0) continue;
      if (worst == 0 || r->names[i] < r->names[worst]) worst = i;
    }
    i = r->buckets[bucket + 1];
  }
  if (worst == 0) return 1;
  const struct entry *entry = &r->entries[r->names[worst]], *before = &r->entries[r->names[worst - 1]];
  return refuse_header(r, e, has_name(before, name_of(entry), length_of(entry)) ? "N10" : "N11", entry);
}
static int is_below_entry(reader* r, const byte* name, size_t left) {
  uint32_t hash = hash_of(name, 0);
  for (size_t at = 0; left > 0 && memchr(name + at, '/', left); hash = hash_step(hash, name[at++]), --left)
    if (name[at] == '/' && find_folded(r, name, at, hash)) return 1;
  return 0;
}
/* Step 38. */
static int check_folders(reader* r, fault* e) {
  for (size_t i = 0; i < r->count; ++i) {
    const struct entry* entry = &r->entries[i];
    if (is_below_entry(r, name_of(entry), length_of(entry))) return refuse_header(r, e, "N12", entry);
  }
  return 1;
}

/* --- What is left to check ---------------------------------------------------------------------------------------- */
/* If `zeros` is 0, a state of the file ends at `at`; else that many bytes from `at` on must be zero: the padding of a
 * state's local header. The state is in the tail after the entry `tail`, or in a tail of a state in that tail. */
struct cut {
  uint64_t at;
  size_t zeros, tail;
};
/* Cuts as a heap: the largest is first; among equal ones, the one of the first tail. */
struct cuts {
  struct cut* items;
  size_t count, room;
};
static int is_same_place(struct cut a, struct cut b) { return a.at == b.at && a.zeros == b.zeros; }
static int comes_first(struct cut a, struct cut b) {
  return a.at != b.at ? a.at > b.at : a.zeros != b.zeros ? a.zeros > b.zeros : a.tail < b.tail;
}
static int push_cut(reader* r, struct cuts* heap, uint64_t at, size_t zeros, size_t tail, fault* e) {
  const struct cut cut = {at, zeros, tail};
  size_t place = heap->count;
  if (heap->count == heap->room) {
    struct cut* items = (struct cut*)take(r, heap->room * 2 + 16, sizeof *items, e);
    if (!items) return 0;
    if (heap->count > 0) memcpy(items, heap->items, heap->count * sizeof *items);
    drop(r, heap->items);
    heap->items = items;
    heap->room = heap->room * 2 + 16;
  }
  for (++heap->count; place > 0 && comes_first(cut, heap->items[(place - 1) / 2]); place = (place - 1) / 2)
    heap->items[place] = heap->items[(place - 1) / 2];
  heap->items[place] = cut;
  return 1;
}
static struct cut pop_cut(struct cuts* heap) {
  const struct cut first = heap->items[0], last = heap->items[--heap->count];
  size_t place = 0;
  for (size_t child; (child = 2 * place + 1) < heap->count; place = child) {
    if (child + 1 < heap->count && comes_first(heap->items[child + 1], heap->items[child])) ++child;
    if (!comes_first(heap->items[child], last)) break;
    heap->items[place] = heap->items[child];
  }
  heap->items[place] = last;
  return first;
}

/* --- Local headers (L, P5) ---------------------------------------------------------------------------------------- */
/* Steps 52 and 53. Returns the broken rule, or NULL. */
static const char* broken_by_sizes(const struct entry* entry, const struct header* local) {
  const uint32_t packed = u32(local->bytes + 18), size = u32(local->bytes + 22);
  if (!local->zip64) {
    if (packed == NONE_32 || size == NONE_32) return "L7";
    return packed == entry->size && size == entry->size ? NULL : "L8";
  }
  if (local->zip64_size != 16) return "L7";
  if (u64(local->zip64) != entry->size || u64(local->zip64 + 8) != entry->size) return "L8";
  return (packed != NONE_32 && packed != entry->size) || (size != NONE_32 && size != entry->size) ? "L8" : NULL;
}
static int are_zeros(const byte* at, size_t length) {
  return length == 0 || (*at == 0 && memcmp(at, at + 1, length - 1) == 0);
}
/* Checks L10 for this many bytes from `at` on. `entry` may be NULL. */
static int check_zeros(reader* r, uint64_t at, size_t length, const struct entry* entry, fault* e) {
  byte* block = copy_of(r, at, length, e);
  const int result = block && (are_zeros(block, length) || refuse(e, "L10", entry, entry ? entry->offset : at));
  drop(r, block);
  return result;
}
/* Steps 54 to 58, except zeros that are not all in memory. Returns the broken rule, or NULL. */
static const char* broken_by_padding(const struct entry* entry, const struct header* local, size_t length) {
  const size_t zeros = local->padding + 2, end = local->padding + local->padding_size;
  const uint32_t alignment = local->padding != 0 ? local->alignment : 64;
  if (local->padding != 0 && local->padding_size < 2) return "L10";
  if (local->padding != 0 && !is_alignment(local->padding_id, alignment)) return "L11";
  if ((entry->offset + length) % alignment != 0) return "L12";
  if (entry->alignment != 0 && (local->padding_id != ALIGNMENT_ID || entry->alignment != alignment)) return "L14";
  return zeros < end && end <= local->known && !are_zeros(local->bytes + zeros, end - zeros) ? "L10" : NULL;
}
/* Steps 46 to 58 of a local header. At least its name is in memory. Returns the broken rule, "" if the source fails,
 * or NULL. */
static const char* broken_by_local(const struct entry* entry, struct header* header, size_t length) {
  static const char* const ids[] = {"L4", "L5", "L6"};
  const byte* local = header->bytes;
  const char* broken;
  if (!has_name(entry, local + LOCAL_SIZE, u16(local + 26))) return "L2";
  if (((u16(local + 6) ^ u16(entry->header + 8)) & ~(1u << 11)) != 0) return "L3";
  if (memcmp(local + 8, entry->header + 10, 10) != 0) return "L3"; /* method, time, date, CRC-32 */
  if (!is_version(local + 4)) return "L13";
  broken = read_extras(header, LOCAL_SIZE + length_of(entry), length, ids);
  if (!broken) broken = broken_by_sizes(entry, header);
  return broken ? broken : broken_by_padding(entry, header, length);
}
/* Checks the remaining zeros. For superseded states it is deferred, so that zeros that states share are read once. */
static int check_rest(const struct entry* entry, const struct header* local) {
  const size_t zeros = local->padding + 2, end = local->padding + local->padding_size;
  reader* r = local->r;
  if (zeros >= end || end <= local->known) return 1;
  if (r->cuts) return push_cut(r, r->cuts, local->offset + zeros, end - zeros, r->tail, local->e);
  return check_zeros(r, local->offset + zeros, end - zeros, entry, local->e);
}
/* Step 60: the bytes from `data_end` to the next local header are a superseded tail (P5c). */
static int check_gap(reader* r, size_t index, uint64_t data_end, fault* e) {
  fault why;
  struct end tail;
  if (is_last(r, index)) return refuse(e, "P5", &r->entries[index], data_end);
  if (read_end(r, following(r, index), &tail, &why)) {
    if (tail.offset >= data_end && (r->end.has_zip64 || !tail.has_zip64)) return 1;
  } else if (!why.rule[0]) { /* the read failed */
    if (e) *e = why;
    return 0;
  }
  return refuse(e, "P5", &r->entries[index], data_end);
}
/* Stage use, steps 45 to 60, unless done before. Afterwards data_of may be called. Local header and name end before the
 * next header (check_places), so both can be read, together with the bytes that usual extra fields need. */
static int prove(reader* r, size_t index, fault* e) {
  enum { USUAL_EXTRAS = 96 };
  struct entry* entry = &r->entries[index];
  const uint64_t room = following(r, index) - entry->offset;
  byte local[(size_t)LOCAL_SIZE + (size_t)LONGEST_NAME + USUAL_EXTRAS];
  struct header header = {r, e,  entry->offset, local, NULL, LOCAL_SIZE + length_of(entry) + USUAL_EXTRAS, 0, 0, 0, 0,
                          0, {0}};
  const char* broken;
  size_t length;
  if (LOAD_PROOF(entry) != 0) return 1;
  if (header.known > room) header.known = (size_t)room;
  if (!copy_in(r, entry->offset, header.known, local, e)) return 0;
  length = (size_t)LOCAL_SIZE + u16(local + 26) + u16(local + 28);
  if (!is_signed(local, "PK\3\4") || length > room) return refuse(e, "L1", entry, entry->offset);
  if (length > LONGEST_LOCAL) return refuse(e, "L15", entry, entry->offset);
  broken = broken_by_local(entry, &header, length);
  if (!broken && !check_rest(entry, &header)) return 0;
  if (!broken && entry->size > room - length) broken = is_last(r, index) ? "P4" : "P3";
  if (broken) return broken[0] ? refuse(e, broken, entry, entry->offset) : 0;
  if (entry->size < room - length && !check_gap(r, index, entry->offset + length + entry->size, e)) return 0;
  STORE_PROOF(entry, (uint16_t)length);
  return 1;
}
static int prove_all(reader* r, fault* e) {
  size_t i = 0;
  while (i < r->count && prove(r, i, e)) ++i;
  return i == r->count;
}
/* Sums of this wrap around only for sizes near 2^64, where no wrapped sum can be the offset of what follows. */
static uint64_t aligned(uint64_t offset, uint64_t alignment) { return (offset + alignment - 1) & ~(alignment - 1); }

/* Steps 39 and 40: checks the local header now if P5a does not hold. */
static int prove_unusual(reader* r, fault* e) {
  for (size_t i = 0; i < r->count; ++i) {
    const struct entry* entry = &r->entries[i];
    const uint64_t wide = entry->size >= NONE_32 ? 20 : 0, begin = following(r, i) - entry->size;
    const uint64_t least = entry->offset + LOCAL_SIZE + length_of(entry) + wide;
    if (begin == aligned(least + 6, entry->size >= 1048576 ? 4096 : 64)) continue;
    if (begin == aligned(least, 64) || begin == aligned(least + 6, 64)) continue;
    if (!prove(r, i, e)) return 0;
  }
  return 1;
}
/* Steps 41 to 44. */
static int check_model(reader* r, fault* e) {
  const size_t index = find(r, (const byte*)MODEL_NAME, sizeof MODEL_NAME - 1);
  if (index == OAR_NOT_FOUND) return refuse(e, "P6", NULL, r->end.offset);
  if (!is_last(r, index)) return refuse_header(r, e, "P7", &r->entries[index]);
  if (r->entries[index].size > r->options.max_model) return refuse_header(r, e, "P8", &r->entries[index]);
  for (size_t i = 0; i < index; ++i) {
    const struct entry* entry = &r->entries[i];
    if (is_reserved(name_of(entry), length_of(entry))) return refuse_header(r, e, "N13", entry);
  }
  return 1;
}
static int open_state(onnxar_reader* r, fault* e) {
  return read_end(r, r->source.size, &r->end, e) && check_counts(r, e) && read_directory(r, e) && check_places(r, e) &&
         index_names(r, e) && check_folders(r, e) && prove_unusual(r, e) && check_model(r, e);
}
static void drop_state(onnxar_reader* r) {
  drop(r, r->names);
  drop(r, r->buckets);
  drop(r, r->entries);
  drop(r, r->directory);
}

/* --- The wire format (M2 to M5) ----------------------------------------------------------------------------------- */
/* Reads a number and moves `*at` past it. Returns the broken rule, or NULL. */
static const char* read_varint(const byte** at, const byte* end, uint64_t* value) {
  const byte* now = *at;
  for (*value = 0; now - *at < 10; ++now) {
    if (now == end) return "M2";
    *value |= (uint64_t)(*now & 0x7F) << 7 * (now - *at);
    if (*now >= 0x80) continue;
    if (now - *at == 9 && *now > 1) break; /* more than 64 bits */
    *at = now + 1;
    return NULL;
  }
  return "M3";
}
/* Reads the field at `*at` and moves `*at` past it: steps a to d. Returns the rule broken at `*blamed`, or NULL. */
static const char* read_field(const byte** at, const byte* end, field* out, const byte** blamed) {
  const byte* now = *at;
  uint64_t tag = 0;
  const char* broken = read_varint(&now, end, &tag);
  *blamed = *at;
  if (broken) return broken;
  if (now - *at > 5 || tag >> 3 == 0 || tag >> 32 != 0) return "M4";
  out->number = (uint32_t)(tag >> 3);
  out->wire_type = (uint32_t)(tag & 7);
  out->data = now;
  out->value = out->wire_type == 1 ? 8 : 4;
  if (out->wire_type > 2 && out->wire_type != 5) return "M5";
  if (out->wire_type == 0 || out->wire_type == 2) {
    broken = read_varint(&now, end, &out->value);
    if (broken) *blamed = out->data;
    if (broken) return broken;
    if (out->wire_type == 2) out->data = now;
  }
  if (out->wire_type != 0 && out->value > (uint64_t)(end - now)) return "M2";
  out->length = out->wire_type == 0 ? (size_t)(now - out->data) : (size_t)out->value;
  if (out->wire_type == 1 || out->wire_type == 5) out->value = out->wire_type == 1 ? u64(now) : u32(now);
  *at = out->data + out->length;
  return NULL;
}
struct text {
  const byte* at; /* NULL if it is missing */
  size_t length;
};
static int begins(struct text text, const char* with) {
  return text.length >= strlen(with) && memcmp(text.at, with, strlen(with)) == 0;
}
static int is_text(struct text text, const char* other) { return text.length == strlen(other) && begins(text, other); }

/* Reads a StringStringEntryProto. Returns the rule broken at `*blamed`, or NULL. */
static const char* read_pair(const field* message, struct text pair[2], const byte** blamed) {
  const byte *at = message->data, *end = at + message->length;
  memset(pair, 0, 2 * sizeof *pair);
  pair[1].at = at;
  while (at < end) {
    field part;
    const char* broken = read_field(&at, end, &part, blamed);
    if (broken) return broken;
    if (part.wire_type != 2 || part.number > 2) continue;
    pair[part.number - 1].at = part.data;
    pair[part.number - 1].length = part.length;
  }
  return NULL;
}
enum { MODEL, TRAINING, FUNCTION, GRAPH, NODE, ATTRIBUTE, SPARSE, TENSOR };
/* The fields that lead to tensors. `slot` counts in one message; `site` is the site that the field begins, or -1. */
static const struct step {
  int parent, child, is_repeated, slot, site;
  uint32_t number;
  const char* label;
} steps[] = {
    /* clang-format off */
    {MODEL, GRAPH, 0, 0, -1, 7, "graph"}, {MODEL, TRAINING, 1, 1, OAR_TRAINING, 20, "training_info"},
    {MODEL, FUNCTION, 1, 2, -1, 25, "functions"}, {TRAINING, GRAPH, 0, 0, -1, 1, "initialization"},
    {TRAINING, GRAPH, 0, 1, -1, 2, "algorithm"}, {FUNCTION, NODE, 1, 0, -1, 7, "node"},
    {FUNCTION, ATTRIBUTE, 1, 1, OAR_FUNCTION_DEFAULT, 11, "attribute_proto"}, {GRAPH, NODE, 1, 0, -1, 1, "node"},
    {GRAPH, TENSOR, 1, 1, OAR_INITIALIZER, 5, "initializer"}, {GRAPH, SPARSE, 1, 2, -1, 15, "sparse_initializer"},
    {NODE, ATTRIBUTE, 1, 0, -1, 5, "attribute"}, {ATTRIBUTE, TENSOR, 0, 0, OAR_ATTRIBUTE, 5, "t"},
    {ATTRIBUTE, GRAPH, 0, 1, -1, 6, "g"}, {ATTRIBUTE, TENSOR, 1, 2, OAR_ATTRIBUTE, 10, "tensors"},
    {ATTRIBUTE, GRAPH, 1, 3, -1, 11, "graphs"}, {ATTRIBUTE, SPARSE, 0, 4, -1, 22, "sparse_tensor"},
    {ATTRIBUTE, SPARSE, 1, 5, -1, 23, "sparse_tensors"}, {SPARSE, TENSOR, 0, 0, OAR_SPARSE_VALUES, 1, "values"},
    {SPARSE, TENSOR, 0, 1, OAR_SPARSE_INDICES, 2, "indices"},
    /* clang-format on */
};
/* A message that the walk is in. */
struct frame {
  const byte *begin, *end;
  const struct step* step; /* that led to it */
  uint32_t index;          /* among those of this step in the message above */
  uint32_t counts[6];      /* of the fields that led on, by slot */
  size_t graph;            /* the number of the graph that it is in */
  int message, site;
};
enum { DIMS = 1, DATA_TYPE = 2, FLOAT_DATA = 4, INT32_DATA = 5, STRING_DATA = 6, NAME = 8, RAW_DATA = 9 };
enum { DOUBLE_DATA = 10, EXTERNAL_DATA = 13, DATA_LOCATION = 14, TYPED_FIELDS = 12 };
enum { LOCATION, OFFSET, LENGTH, CHECKSUM, KEYS };
struct onnxar_reader_walk {
  reader* r;
  size_t index, graphs; /* of the entry; the number of graphs so far, without the main graph */
  const byte *begin, *at;
  byte* block;              /* the model, if the file is read */
  int depth, has_failed;    /* of the message that the walk is in: 0 is the model, -1 its end */
  onnxar_reader_tensor out; /* the last tensor, and what else its fields state */
  struct text raw, keys[KEYS];
  uint32_t type; /* its data type, 0 if unknown */
  int is_linked, has_runs, has_bytes;
  uint64_t bytes, values[TYPED_FIELDS]; /* that type and dimensions call for, if has_bytes; by number of the field */
  int64_t dims[MOST_DIMS];
  fault error;
  struct frame frames[DEEPEST + 1]; /* of the model, and of each message down to the last tensor */
};
static int refuse_at(walker* w, const char* rule, const byte* at) {
  return refuse(&w->error, rule, &w->r->entries[w->index], data_of(w->r, w->index) + (uint64_t)(at - w->begin));
}
static int next_field(walker* w, const byte** at, const byte* end, field* out) {
  const byte* blamed;
  const char* broken = read_field(at, end, out, &blamed);
  return broken ? refuse_at(w, broken, blamed) : 1;
}

/* --- Tensors ------------------------------------------------------------------------------------------------------ */
/* The bits of an element, 0 if unknown, and the typed field, by data type; the first row is for unknown types. */
static const struct {
  uint32_t bits, field;
} types[] = {{0, 0},  {32, 4},  {8, 5},   {8, 5},   {16, 5}, {16, 5},   {32, 5}, {64, 7}, {0, 6}, {8, 5},
             {16, 5}, {64, 10}, {32, 11}, {64, 11}, {64, 4}, {128, 10}, {16, 5}, {8, 5},  {8, 5}, {8, 5},
             {8, 5},  {4, 5},   {4, 5},   {4, 5},   {8, 5},  {2, 5},    {2, 5},  {6, 5},  {6, 5}};
enum { STRING = 8, COMPLEX64 = 14, COMPLEX128 = 15, TYPES = 29 };
/* The wire type of a value of a typed field that is not packed; 3, which no field has, for other fields. */
static uint32_t wire_type_of(uint32_t number) {
  static const byte own[TYPED_FIELDS] = {3, 3, 3, 3, 5, 0, 2, 0, 3, 3, 1, 0};
  return number < TYPED_FIELDS ? own[number] : 3;
}
/* Steps f and i: numbers of dimensions, which are kept, or of typed data, in a packed run or alone. */
static int read_run(walker* w, const field* run, const byte* tag) {
  const byte *at = run->data, *end = at + run->length;
  while (at < end) {
    uint64_t value = 0;
    const byte* number = at;
    const char* broken = read_varint(&at, end, &value);
    if (broken) return refuse_at(w, broken, number);
    ++w->values[run->number];
    if (run->number != DIMS) continue;
    if (value > INT64_MAX || w->out.rank == MOST_DIMS) return refuse_at(w, "M17", tag);
    w->dims[w->out.rank++] = (int64_t)value;
  }
  return 1;
}
/* Step g. */
static int add_key(walker* w, const field* message, const byte* tag) {
  static const char* const names[] = {"location", "offset", "length", "checksum"};
  struct text pair[2];
  const byte* blamed;
  const char* broken;
  if (w->depth + 2 > DEEPEST) return refuse_at(w, "M6", tag);
  broken = read_pair(message, pair, &blamed);
  if (broken) return refuse_at(w, broken, blamed);
  for (int i = 0; i < KEYS; ++i) {
    if (!is_text(pair[0], names[i])) continue;
    if (w->keys[i].at) return refuse_at(w, "M10", message->data);
    w->keys[i] = pair[1];
  }
  return 1;
}
/* Steps e to g of a field of a tensor. */
static int add_field(walker* w, const field* part, const byte* tag) {
  const uint32_t low = (uint32_t)part->value, own = wire_type_of(part->number);
  if (own == part->wire_type) ++w->values[part->number];
  if (part->wire_type == 2) {
    if (own == 0 || own == 1 || own == 5) w->has_runs = 1;
    if (part->number == EXTERNAL_DATA) return add_key(w, part, tag);
    if (part->number == NAME) w->out.name = (const char*)part->data;
    if (part->number == NAME) w->out.name_length = part->length;
    if (part->number == RAW_DATA) w->raw.at = part->data;
    if (part->number == RAW_DATA) w->raw.length = part->length;
  }
  if (part->wire_type == 0 && part->number == DATA_TYPE) {
    w->out.data_type = (int32_t)low;
    w->type = low < TYPES ? low : 0;
  }
  if (part->wire_type == 0 && part->number == DATA_LOCATION && low <= 1) w->is_linked = low == 1;
  return part->number == DIMS && (part->wire_type == 0 || part->wire_type == 2) ? read_run(w, part, tag) : 1;
}
/* Computes the product, UINT64_MAX if it is larger. Returns whether it overflowed. */
static int multiply(uint64_t* product, uint64_t by) {
  const int is_larger = by != 0 && *product > UINT64_MAX / by;
  *product = is_larger ? UINT64_MAX : *product * by;
  return is_larger;
}
/* Step h. */
static int count_elements(walker* w) {
  const uint32_t bits = types[w->type].bits;
  int is_too_much = 0, is_empty = 0;
  w->out.elements = 1;
  for (size_t i = 0; i < w->out.rank; ++i) {
    if (w->dims[i] == 0) is_empty = 1;
    if (w->dims[i] != 0 && multiply(&w->out.elements, (uint64_t)w->dims[i])) is_too_much = 1;
  }
  if (is_empty) w->out.elements = 0;
  w->bytes = w->out.elements;
  w->has_bytes = bits != 0 || is_empty;
  if (bits >= 8 && multiply(&w->bytes, bits / 8)) is_too_much = 1;
  if (bits != 0 && bits < 8) w->bytes = w->bytes / 8 * bits + (w->bytes % 8 * bits + 7) / 8;
  return bits != 0 && is_too_much && !is_empty ? refuse_at(w, "M17", (const byte*)w->out.message) : 1;
}
/* Step i: the packed runs of typed data, in fields that were read before. */
static int count_runs(walker* w, const byte* at, const byte* end) {
  for (const byte* tag = at; w->has_runs && at < end; tag = at) {
    field run;
    uint32_t own, width;
    if (!next_field(w, &at, end, &run)) return 0;
    own = wire_type_of(run.number);
    width = own == 1 ? 8 : 4;
    if (run.wire_type != 2 || own == 2 || own == 3) continue;
    if (own == 0 && !read_run(w, &run, tag)) return 0;
    if (own == 0) continue;
    if (run.length % width != 0) return refuse_at(w, "M2", tag);
    w->values[run.number] += run.length / width;
  }
  return 1;
}
/* Steps a to i of a tensor. */
static int read_tensor(walker* w, const field* message) {
  static const char none[] = "";
  const byte *at = message->data, *end = at + message->length;
  memset(&w->out, 0, offsetof(walker, dims) - offsetof(walker, out));
  w->out.name = none;
  w->out.dims = w->dims;
  w->out.message = at;
  w->out.message_size = message->length;
  for (const byte* tag = at; at < end; tag = at) {
    field part;
    if (!next_field(w, &at, end, &part) || !add_field(w, &part, tag)) return 0;
  }
  return count_elements(w) && count_runs(w, message->data, end);
}
/* Step l. Returns the broken rule, or NULL. */
static const char* judge_inline(walker* w, int held) {
  const uint32_t type = w->type, field_of_type = types[type].field, bits = types[type].bits;
  const int is_typed = w->out.field != 0 && field_of_type != 0;
  uint64_t needed = bits == 4 || bits == 2 ? w->bytes : w->out.elements;
  if (type == COMPLEX64 || type == COMPLEX128) multiply(&needed, 2);
  if (w->out.data_type == 0) return "M19";
  if (held > 1) return "M20";
  if ((is_typed && (uint32_t)w->out.field != field_of_type) || (w->raw.length > 0 && type == STRING)) return "M21";
  if (w->out.elements == 0 && held > 0) return "M18";
  if (w->raw.at && w->has_bytes && w->raw.length < w->bytes) return "M18";
  return is_typed && w->out.values < needed ? "M18" : NULL;
}
/* Reads a plain decimal number below 2^64. */
static int read_decimal(struct text text, uint64_t* value) {
  int is_good = text.length > 0 && text.length <= 20 && (text.at[0] != '0' || text.length == 1);
  *value = 0;
  for (size_t i = 0; is_good && i < text.length; ++i) {
    const uint64_t digit = (uint64_t)text.at[i] - '0';
    is_good = digit <= 9 && *value <= (UINT64_MAX - digit) / 10;
    *value = *value * 10 + digit;
  }
  return is_good;
}
/* Step k up to M18. Returns the broken rule, or NULL. */
static const char* judge_link(walker* w, int held, uint64_t* offset, uint64_t* length) {
  const struct text* location = &w->keys[LOCATION];
  if (w->out.data_type == 0) return "M19";
  if (w->out.data_type == STRING) return "M15";
  if (w->raw.at || held > 0) return "M16";
  if (location->length == 0) return "M8";
  if (begins(*location, "*/_ORT_") || begins(*location, "#onnxar:")) return "M14";
  if (w->keys[OFFSET].at && !read_decimal(w->keys[OFFSET], offset)) return "M11";
  if (w->keys[LENGTH].at && !read_decimal(w->keys[LENGTH], length)) return "M12";
  return w->has_bytes && *length != w->bytes ? "M18" : NULL;
}
/* Finds bytes of an entry that was used. Returns 0 if they are out of range (M13). */
static int place_range(reader* r, size_t index, uint64_t offset, uint64_t length, onnxar_reader_range* range) {
  const uint64_t size = r->entries[index].size;
  if (offset > size || length > size - offset) return 0;
  range->offset = data_of(r, index) + offset;
  range->size = length;
  range->data = r->memory ? r->memory + (size_t)range->offset : NULL;
  return 1;
}
/* Adds the location, which no entry has as its name, to a breach of M9. */
static void name_location(fault* e, const char* broken, struct text location) {
  const size_t length = location.length < sizeof e->location ? location.length : sizeof e->location - 1;
  if (e && strcmp(broken, "M9") == 0) memcpy(e->location, location.at, length);
}
/* Step k from M9 on. Returns the broken rule, "" if the entry's local header was refused, or NULL. */
static const char* find_data(reader* r, struct text location, uint64_t offset, const uint64_t* length,
                             onnxar_reader_range* range, size_t* index, fault* e) {
  uint64_t rest;
  *index = find(r, location.at, location.length);
  if (*index == OAR_NOT_FOUND) return "M9";
  if (!prove(r, *index, e)) return "";
  rest = r->entries[*index].size < offset ? 0 : r->entries[*index].size - offset;
  return place_range(r, *index, offset, length ? *length : rest, range) ? NULL : "M13";
}
/* Steps k and l of the tensor that was read. */
static int judge_tensor(walker* w) {
  const int has_length = w->has_bytes || w->keys[LENGTH].at;
  onnxar_reader_range range = {w->raw.at, OAR_NO_OFFSET, w->raw.length};
  uint64_t offset = 0, length = w->bytes;
  int held = w->raw.length > 0; /* how many fields hold values */
  const char* broken;
  for (int number = FLOAT_DATA; number < TYPED_FIELDS; ++number) {
    if (w->values[number] == 0) continue;
    ++held;
    w->out.field = number;
    w->out.values = w->values[number];
  }
  broken = w->is_linked ? judge_link(w, held, &offset, &length) : judge_inline(w, held);
  w->out.entry = OAR_NOT_FOUND;
  w->out.kind = w->out.field != 0 ? OAR_TYPED : w->raw.at ? OAR_INLINE : OAR_NO_DATA;
  if (w->raw.at) range.offset = data_of(w->r, w->index) + (uint64_t)(w->raw.at - w->begin);
  if (w->is_linked && !broken) {
    w->out.kind = OAR_LINKED;
    broken = find_data(w->r, w->keys[LOCATION], offset, has_length ? &length : NULL, &range, &w->out.entry, &w->error);
  }
  w->out.data = range.data;
  w->out.offset = range.offset;
  w->out.size = range.size;
  if (broken && broken[0]) refuse_at(w, broken, (const byte*)w->out.message);
  if (broken) name_location(&w->error, broken, w->keys[LOCATION]);
  return !broken;
}
/* Returns the step that the field of a message leads to, or NULL. */
static const struct step* step_of(int message, const field* part) {
  for (size_t i = 0; i < sizeof steps / sizeof *steps && part->wire_type == 2; ++i)
    if (steps[i].parent == message && steps[i].number == part->number) return &steps[i];
  return NULL;
}
/* Step e of a field that leads on: sets the frame below. All messages in training info and in defaults of functions get
 * that site, except the indices of sparse tensors. */
static int enter(walker* w, const struct step* step, const field* part, const byte* tag) {
  struct frame *parent = &w->frames[w->depth], *child = parent + 1;
  const uint32_t index = parent->counts[step->slot]++;
  if (index > 0 && !step->is_repeated) return refuse_at(w, "M7", tag);
  if (w->depth == DEEPEST) return refuse_at(w, "M6", tag);
  memset(child, 0, sizeof *child);
  child->begin = part->data;
  child->end = part->data + part->length;
  child->step = step;
  child->index = index;
  child->message = step->child;
  child->graph = parent->graph;
  if ((step->child == GRAPH || step->child == FUNCTION) && step != steps) child->graph = ++w->graphs; /* not the main */
  child->site = step->site > parent->site || step->site == OAR_SPARSE_INDICES ? step->site : parent->site;
  return 1;
}
/* Returns 1: a tensor; 0: the end of the model; -1: a refusal. */
static int walk_on(walker* w) {
  while (w->depth >= 0) {
    const struct frame* frame = &w->frames[w->depth];
    const byte* tag = w->at;
    const struct step* step;
    field part;
    if (tag == frame->end) {
      --w->depth;
      continue;
    }
    if (!next_field(w, &w->at, frame->end, &part)) return -1;
    step = step_of(frame->message, &part);
    if (!step) continue;
    if (!enter(w, step, &part, tag)) return -1;
    if (step->child == TENSOR) {
      if (!read_tensor(w, &part) || !judge_tensor(w)) return -1;
      w->out.site = frame[1].site;
      w->out.graph = frame[1].graph;
      return 1;
    }
    w->at = part.data;
    ++w->depth;
  }
  return w->frames[0].counts[0] > 0 ? 0 : refuse_at(w, "M1", w->begin) - 1;
}
int onnxar_reader_walk_next(onnxar_reader_walk* walk, onnxar_reader_tensor* tensor, fault* e) {
  const int result = walk->has_failed ? -1 : walk_on(walk);
  walk->has_failed = result < 0;
  if (result < 0 && e) *e = walk->error;
  if (result > 0) *tensor = walk->out;
  return result;
}
int onnxar_reader_walk_open(reader* r, size_t index, onnxar_reader_walk** walk, fault* e) {
  walker* w;
  *walk = NULL;
  if (index + 1 != r->count && !onnxar_reader_is_graph(r, index)) {
    return fail(e, "usage.argument", "only __MODEL_PROTO and graphs can be walked") - 1;
  }
  if (r->entries[index].size > MODEL_LIMIT) return refuse_header(r, e, "G2", &r->entries[index]) - 1;
  if (!prove(r, index, e) || !(w = (walker*)take(r, 1, sizeof *w, e))) return -1;
  w->r = r;
  w->index = index;
  if (!r->memory) w->block = copy_of(r, data_of(r, index), r->entries[index].size, e);
  w->at = w->begin = r->memory ? r->memory + (size_t)data_of(r, index) : w->block;
  *walk = w->begin ? w : NULL;
  if (!*walk) {
    onnxar_reader_walk_close(w);
    return -1;
  }
  w->frames[0].end = w->begin + (size_t)r->entries[index].size;
  w->frames[0].site = -1;
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
const char* onnxar_reader_walk_output(const onnxar_reader_walk* walk, size_t* length) {
  const struct frame* node = &walk->frames[walk->depth > 0 && !walk->has_failed ? walk->depth - 1 : 0];
  struct text name = {NULL, 0};
  const byte *at = node->begin, *blamed;
  int is_constant = 0, is_foreign = 0;
  field part;
  if (node->message != NODE || node[2].step->child != TENSOR || node[2].step->is_repeated) return NULL;
  while (at < node->end && !read_field(&at, node->end, &part, &blamed)) {
    const struct text text = {part.data, part.length};
    if (part.wire_type != 2) continue;
    if (part.number == 2 && !name.at) name = text; /* output */
    if (part.number == 4) is_constant = is_text(text, "Constant");
    if (part.number == 7) is_foreign = text.length > 0 && !is_text(text, "ai.onnx");
  }
  *length = name.length;
  return is_constant && !is_foreign ? (const char*)name.at : NULL;
}
int onnxar_reader_next_field(const void** message, size_t* size, onnxar_reader_field* out) {
  const byte *at = (const byte*)*message, *end = at + *size, *blamed;
  if (*size == 0) return 0;
  if (read_field(&at, end, out, &blamed)) return -1;
  *message = at;
  *size = (size_t)(end - at);
  return 1;
}
size_t onnxar_reader_copy_values(const onnxar_reader_tensor* tensor, void* buffer, size_t count) {
  const uint32_t own = wire_type_of((uint32_t)tensor->field), width = tensor->field <= INT32_DATA ? 4 : 8;
  const byte *at = (const byte*)tensor->message, *end = at + tensor->message_size, *blamed;
  size_t copied = 0;
  field part;
  if (tensor->kind != OAR_TYPED || own == 2 || own == 3) return 0;
  while (at < end && !read_field(&at, end, &part, &blamed)) {
    const byte *now = part.data, *stop = now + part.length;
    if (part.number != (uint32_t)tensor->field || (part.wire_type != own && part.wire_type != 2)) continue;
    while (now < stop && copied < count && (own == 0 || (size_t)(stop - now) >= width)) {
      uint64_t bits = own == 0 ? 0 : width == 8 ? u64(now) : u32(now);
      const uint32_t low = own == 0 && read_varint(&now, stop, &bits) ? 0 : (uint32_t)bits;
      if (own != 0) now += width;
      memcpy((byte*)buffer + copied++ * width, width == 8 ? (const void*)&bits : &low, width);
    }
  }
  return copied;
}
/* Text that is truncated to its buffer; `length` is the length of the whole text. */
struct writer {
  char* at;
  size_t room, length;
};
static void put(struct writer* out, char c) {
  if (out->length < out->room) out->at[out->length] = (char)(out->length + 1 < out->room ? c : '\0');
  ++out->length;
}
static void put_text(struct writer* out, const char* text) {
  while (*text) put(out, *text++);
}
static void put_number(struct writer* out, uint64_t number) {
  if (number >= 10) put_number(out, number / 10);
  put(out, (char)('0' + number % 10));
}
size_t onnxar_reader_walk_site(const onnxar_reader_walk* walk, char* buffer, size_t size) {
  struct writer out = {buffer, size, 0};
  for (int i = 1; i <= walk->depth + 1 && i <= DEEPEST && walk->frames[i].step; ++i) {
    if (i > 1) put(&out, '.');
    put_text(&out, walk->frames[i].step->label);
    if (!walk->frames[i].step->is_repeated) continue;
    put(&out, '[');
    put_number(&out, walk->frames[i].index);
    put(&out, ']');
  }
  put(&out, '\0');
  return out.length - 1;
}
/* Appends `lead`, the text with `?` for unprintable bytes, and a quotation mark; nothing for an empty text. */
static void put_quoted(struct writer* out, const char* lead, const char* text, size_t length) {
  if (length == 0) return;
  put_text(out, lead);
  for (size_t i = 0; i < length; ++i) put(out, text[i] >= 0x20 && text[i] < 0x7F ? text[i] : '?');
  put(out, '"');
}
const char* onnxar_reader_message(const fault* e, char* buffer, size_t size) {
  struct writer out = {buffer, size, 0};
  put_text(&out, e->code);
  put_quoted(&out, " in \"", e->entry, e->entry_length < LONGEST_NAME ? e->entry_length : (size_t)LONGEST_NAME);
  if (e->offset != OAR_NO_OFFSET) put_text(&out, " at ");
  if (e->offset != OAR_NO_OFFSET) put_number(&out, e->offset);
  put_text(&out, ": ");
  put_text(&out, e->sentence);
  put_quoted(&out, ": \"", e->location, strlen(e->location));
  put(&out, '\0');
  return buffer;
}
struct crc {
  uint32_t value, after[8][256]; /* the register after a byte and this many zeros */
};
static void crc_begin(struct crc* crc) {
  for (uint32_t i = 0; i < 256; ++i) {
    crc->after[0][i] = i;
    for (int bit = 0; bit < 8; ++bit) crc->after[0][i] = crc->after[0][i] >> 1 ^ (crc->after[0][i] & 1) * 0xEDB88320u;
  }
  for (int i = 0; i < 7 * 256; ++i) {
    const uint32_t value = crc->after[i / 256][i % 256];
    crc->after[i / 256 + 1][i % 256] = value >> 8 ^ crc->after[0][value & 255];
  }
}
static void crc_add(struct crc* crc, const byte* at, size_t length) {
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
/* Step 65 of an entry. */
static int check_crc(reader* r, size_t index, struct crc* crc, fault* e) {
  const struct entry* entry = &r->entries[index];
  byte* block = NULL;
  uint64_t at, rest = entry->size;
  if (!prove(r, index, e)) return 0;
  if (!r->memory && !(block = (byte*)take(r, 1, PIECE, e))) return 0; /* the file is read in pieces */
  at = data_of(r, index);
  crc->value = 0xFFFFFFFF;
  while (rest > 0) {
    const size_t length = !r->memory && rest > PIECE ? (size_t)PIECE : (size_t)rest;
    if (!r->memory && !copy_in(r, at, length, block, e)) break;
    crc_add(crc, r->memory ? r->memory + (size_t)at : block, length);
    at += length;
    rest -= length;
  }
  drop(r, block);
  if (rest > 0) return 0;
  return ~crc->value == crc_of(entry) ? 1 : refuse(e, "T1", entry, data_of(r, index));
}
/* Adds the states in the tails of an archive whose local headers are proved; `tail` is NULL for the file itself. */
static int push_tails(reader* r, struct cuts* heap, const size_t* tail, fault* e) {
  for (size_t i = 0; i < r->count; ++i) {
    if (data_of(r, i) + r->entries[i].size == following(r, i)) continue;
    if (!push_cut(r, heap, following(r, i), 0, tail ? *tail : i, e)) return 0;
  }
  return 1;
}
/* Opens a state. The user's limits do not apply to it. */
static int check_state(reader* r, struct cut cut, struct cuts* heap, fault* e) {
  onnxar_reader state = *r;
  int result;
  state.entries = NULL;
  state.names = state.buckets = NULL;
  state.directory = NULL;
  state.cuts = heap;
  state.tail = cut.tail;
  state.source.size = cut.at;
  state.options.max_entries = state.options.max_directory = UINT64_MAX;
  state.options.max_model = MODEL_LIMIT;
  result = open_state(&state, e) && prove_all(&state, e) && push_tails(&state, heap, &cut.tail, e);
  drop_state(&state);
  return result;
}
/* Step 61. Goes from the end of the file to its front, and so visits each state and each run of zeros once. Stops
 * after eight broken ones, because each may cost as much as the file, and reports the one in the first tail. */
static int check_tails(reader* r, fault* e) {
  struct cuts heap = {NULL, 0, 0};
  struct cut before = {UINT64_MAX, 0, 0};
  size_t broken = r->count;
  int result = push_tails(r, &heap, NULL, e), left = 8;
  while (result && heap.count > 0 && left > 0) {
    const struct cut cut = pop_cut(&heap);
    if (is_same_place(cut, before) || cut.tail >= broken) continue;
    before = cut;
    if (cut.zeros > 0 ? check_zeros(r, cut.at, cut.zeros, NULL, e) : check_state(r, cut, &heap, e)) continue;
    result = e->rule[0] != '\0'; /* else the machine failed */
    broken = cut.tail;
    --left;
  }
  drop(r, heap.items);
  if (!result || broken == r->count) return result;
  return refuse(e, "T2", &r->entries[broken], data_of(r, broken) + r->entries[broken].size);
}
/* True if the model could be added to the archive as the graph of this name. */
static int is_free(reader* r, struct text own) {
  byte name[LONGEST_NAME];
  const size_t length = own.length + sizeof GRAPH_ENDING - 1;
  if (own.length == 0 || own.at[own.length - 1] == '/' || length > LONGEST_NAME) return 0;
  memcpy(name, own.at, own.length);
  memcpy(name + own.length, GRAPH_ENDING, sizeof GRAPH_ENDING - 1);
  if (broken_by_name(name, length) || is_reserved(name, length) || is_below_entry(r, name, length)) return 0;
  for (size_t i = 0; i < r->count; ++i) {
    const byte* other = name_of(&r->entries[i]);
    const size_t other_length = length_of(&r->entries[i]);
    if (other_length < length || !is_same_text(other, name, length)) continue;
    if (other_length == length || other[length] == '/') return 0;
  }
  return 1;
}
/* G6 of the tensor that was read. */
static int is_shadowed(walker* w) {
  byte name[2 * LONGEST_NAME];
  const byte* own = name_of(&w->r->entries[w->index]);
  size_t folder = length_of(&w->r->entries[w->index]), length = w->keys[LOCATION].length;
  while (folder > 0 && own[folder - 1] != '/') --folder;
  if (folder == 0 || w->out.kind != OAR_LINKED) return 0;
  memcpy(name, own, folder);
  memcpy(name + folder, w->keys[LOCATION].at, length);
  length += folder;
  return find(w->r, name, length) != OAR_NOT_FOUND;
}
/* Checks G4 of the model, or G3 of a graph, after its walk came to the end. Skips damaged pairs. */
static int check_metadata(walker* w) {
  const byte *at = w->begin, *end = w->frames[0].end, *blamed, *named = NULL;
  struct text own = {NULL, 0}, pair[2];
  const int is_model = is_last(w->r, w->index);
  for (const byte* tag = at; at < end; tag = at) {
    field part;
    if (!next_field(w, &at, end, &part)) return 0;
    if (part.number != 14 || part.wire_type != 2 || read_pair(&part, pair, &blamed)) continue;
    if (!is_model && begins(pair[0], "onnxar.link.")) return refuse_at(w, "G3", tag);
    if (!is_model || !is_text(pair[0], "onnxar.model.name")) continue;
    if (named) return refuse_at(w, "G4", tag);
    named = tag;
    own = pair[1];
  }
  return named && !is_free(w->r, own) ? refuse_at(w, "G4", named) : 1;
}
/* Steps 62 to 64 of the model or a graph. */
static int check_model_bytes(reader* r, size_t index, fault* e) {
  walker* w;
  int more = 1, result;
  if (onnxar_reader_walk_open(r, index, &w, e) < 0) return 0;
  while (more > 0) {
    more = walk_on(w);
    if (more > 0 && is_shadowed(w)) more = refuse_at(w, "G6", (const byte*)w->out.message) - 1;
  }
  result = more == 0 && check_metadata(w);
  if (!result) *e = w->error;
  onnxar_reader_walk_close(w);
  return result;
}
int onnxar_reader_check(reader* r, unsigned flags, fault* e) {
  fault own;
  struct crc crc;
  if (!e) e = &own;
  if (!prove_all(r, e) || !check_tails(r, e) || !check_model_bytes(r, r->count - 1, e)) return -1;
  for (size_t i = 0; i < r->count; ++i)
    if (onnxar_reader_is_graph(r, i) && !check_model_bytes(r, i, e)) return -1;
  crc_begin(&crc);
  for (size_t i = 0; i < r->count && flags & OAR_CHECK_DATA; ++i)
    if (!check_crc(r, i, &crc, e)) return -1;
  return 0;
}
static int check_index(reader* r, size_t index, fault* e) {
  return index < r->count || fail(e, "usage.no_such_entry", "there is no entry of this index");
}
int onnxar_reader_verify(reader* r, size_t index, fault* e) {
  struct crc crc;
  crc_begin(&crc);
  return check_index(r, index, e) && check_crc(r, index, &crc, e) ? 0 : -1;
}
size_t onnxar_reader_count(reader* r) { return r->count; }
size_t onnxar_reader_model(reader* r) { return r->count - 1; }

int onnxar_reader_get_entry(reader* r, size_t index, onnxar_reader_entry* entry, fault* e) {
  if (!check_index(r, index, e)) return -1;
  entry->name = (const char*)name_of(&r->entries[index]);
  entry->name_length = length_of(&r->entries[index]);
  entry->size = r->entries[index].size;
  entry->crc32 = crc_of(&r->entries[index]);
  return 0;
}
size_t onnxar_reader_find(reader* r, const char* name, size_t length) { return find(r, (const byte*)name, length); }

int onnxar_reader_is_graph(reader* r, size_t index) {
  const size_t ending = sizeof GRAPH_ENDING - 1, length = index < r->count ? length_of(&r->entries[index]) : 0;
  const byte* name = length > ending ? name_of(&r->entries[index]) : NULL;
  return name && memcmp(name + length - ending, GRAPH_ENDING, ending) == 0 && name[length - ending - 1] != '/';
}
int onnxar_reader_get_data(reader* r, size_t index, onnxar_reader_range* range, fault* e) {
  if (!check_index(r, index, e) || !prove(r, index, e)) return -1;
  return place_range(r, index, 0, r->entries[index].size, range) - 1;
}
int onnxar_reader_resolve(reader* r, const char* location, size_t location_length, uint64_t offset,
                          const uint64_t* length, onnxar_reader_range* range, fault* e) {
  const struct text name = {(const byte*)location, location_length};
  size_t index;
  const char* broken = location_length == 0 ? "M8" : find_data(r, name, offset, length, range, &index, e);
  if (broken && broken[0]) refuse(e, broken, NULL, OAR_NO_OFFSET);
  if (broken) name_location(e, broken, name);
  return broken ? -1 : 0;
}
int onnxar_reader_copy(reader* r, uint64_t offset, size_t length, void* buffer, fault* e) {
  if (offset <= r->source.size && length <= r->source.size - offset) return copy_in(r, offset, length, buffer, e) - 1;
  return fail(e, "usage.argument", "the file has no such bytes") - 1;
}

/* --- Opening ------------------------------------------------------------------------------------------------------ */
/* A reader with its options, but no file. */
static onnxar_reader* new_reader(const onnxar_reader_options* options, fault* e) {
  onnxar_reader none, *r = NULL;
  memset(&none, 0, sizeof none);
  if (options) none.options = *options;
  if (none.options.max_entries == 0) none.options.max_entries = 1 << 20;
  if (none.options.max_directory == 0) none.options.max_directory = 1 << 28;
  if (none.options.max_model == 0 || none.options.max_model > MODEL_LIMIT) none.options.max_model = MODEL_LIMIT;
  if (!none.options.allocate != !none.options.release) {
    fail(e, "usage.argument", "allocate and release are given both or not at all");
  } else if ((r = (onnxar_reader*)take(&none, 1, sizeof none, e)) != NULL) {
    *r = none;
  }
  return r;
}
/* Stage open of a reader that has its file, at `memory` if it is not read by callbacks. */
static int finish_opening(onnxar_reader* r, const void* memory, onnxar_reader** archive, fault* e) {
  fault why;
  if (!r->source.read) r->memory = (const byte*)(memory ? memory : MODEL_NAME); /* any address, for no bytes */
  if (open_state(r, &why)) {
    *archive = r;
    return 0;
  }
  if (strcmp(why.rule, "E1") == 0) word_missing_end(r, &why);
  if (e) *e = why;
  onnxar_reader_close(r);
  return -1;
}
/* `missing` names the argument that the caller did not pass, or is NULL. */
static int open_source(const onnxar_reader_source* source, const void* memory, const char* missing,
                       const onnxar_reader_options* options, onnxar_reader** archive, fault* e) {
  onnxar_reader* r = missing ? NULL : new_reader(options, e);
  *archive = NULL;
  if (missing) fail(e, "usage.argument", missing);
  if (!r) return -1;
  r->source = *source;
  return finish_opening(r, memory, archive, e);
}
int onnxar_reader_open_memory(const void* data, size_t size, const onnxar_reader_options* options,
                              onnxar_reader** archive, fault* e) {
  const onnxar_reader_source source = {size, NULL, NULL};
  return open_source(&source, data, data || size == 0 ? NULL : "there is no data", options, archive, e);
}
int onnxar_reader_open_source(const onnxar_reader_source* source, const onnxar_reader_options* options,
                              onnxar_reader** archive, fault* e) {
  const char* missing = source && source->read ? NULL : "there is no function that reads";
  return open_source(source, NULL, missing, options, archive, e);
}

#ifndef OAR_NO_STDIO
static int fail_by_system(fault* e, int number) {
  if (number == ENOENT || number == ENOTDIR) return fail(e, "io.not_found", "there is no such file");
  if (number == EACCES || number == EPERM) return fail(e, "io.permission", "the file may not be read");
  if (number == EISDIR || number == ENXIO) return fail(e, "io.not_a_file", "this is not a regular file");
  if (number == ENOMEM || number == EOVERFLOW)
    return fail(e, "io.address_space", "the file is too large for this machine");
  return fail(e, "io.failed", "the file cannot be read");
}

#ifdef OAR_MMAP
static int load_file(onnxar_reader* r, const char* path, fault* e) {
  const int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK); /* do not wait for a pipe's other end */
  struct stat status;
  int number = file >= 0 && fstat(file, &status) == 0 ? 0 : errno;
  if (number == 0 && !S_ISREG(status.st_mode)) number = EISDIR;
  if (number == 0 && (uint64_t)status.st_size > SIZE_MAX) number = ENOMEM;
  if (number == 0) r->source.size = (uint64_t)status.st_size;
  if (r->source.size > 0) {
    r->mapping = mmap(NULL, (size_t)r->source.size, PROT_READ, MAP_SHARED, file, 0);
    if (r->mapping == MAP_FAILED) number = errno;
    if (r->mapping == MAP_FAILED) r->mapping = NULL;
  }
  if (file >= 0) close(file);
  return number == 0 || fail_by_system(e, number);
}
static void unload_file(onnxar_reader* r) { munmap(r->mapping, (size_t)r->source.size); }
#else
#ifdef _WIN32 /* where long has 32 bits */
#define fseek _fseeki64
#define ftell _ftelli64
#endif
static int load_file(onnxar_reader* r, const char* path, fault* e) {
  FILE* file = fopen(path, "rb");
  int is_good = file && fseek(file, 0, SEEK_END) == 0 && ftell(file) >= 0;
  if (is_good) r->source.size = (uint64_t)ftell(file);
  /* The first byte of a folder cannot be read, although it may have a size. */
  if (is_good && (fseek(file, 0, SEEK_SET) != 0 || (getc(file) == EOF && ferror(file)))) is_good = 0;
  if (!is_good) fail_by_system(e, errno);
  if (is_good && r->source.size > 0) {
    r->mapping = take(r, r->source.size, 1, e);
    is_good = r->mapping && fseek(file, 0, SEEK_SET) == 0;
    if (is_good && fread(r->mapping, 1, (size_t)r->source.size, file) != r->source.size) is_good = fail_by_system(e, 0);
  }
  if (file) fclose(file);
  return is_good;
}
static void unload_file(onnxar_reader* r) { drop(r, r->mapping); }
#endif

int onnxar_reader_open(const char* path, const onnxar_reader_options* options, onnxar_reader** archive, fault* e) {
  onnxar_reader* r = new_reader(options, e);
  *archive = NULL;
  if (r && load_file(r, path, e)) return finish_opening(r, r->mapping, archive, e);
  onnxar_reader_close(r);
  return -1;
}
#endif

void onnxar_reader_close(onnxar_reader* archive) {
  onnxar_reader copy;
  if (!archive) return;
  drop_state(archive);
#ifndef OAR_NO_STDIO
  if (archive->mapping) unload_file(archive);
#endif
  copy = *archive;
  drop(&copy, archive);
}
