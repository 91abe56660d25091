// Reads and checks the headers of entries in a foreign zip.
#include "zip/foreign_headers.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string>

#include "base/byte_range.h"
#include "base/crc32.h"
#include "base/little_endian.h"
#include "base/text.h"
#include "onnxar/error.h"
#include "zip/extra_fields.h"
#include "zip/format.h"
#include "zip/inflate_source.h"
#include "zip/layout.h"
#include "zip/names.h"
#include "zip/records.h"
#include "zip/shared_checks.h"
#include "zip/wide_fields.h"

namespace onnxar::zip {
namespace {

using base::concat;

/// The extra fields that affect names, sizes or alignment.
struct KnownFields {
  std::optional<Bytes> zip64, padding, alignment, unicode_path;
};

void refuse_stray_bytes(Bytes rest, const HeaderContext& refuse) {
  if (std::ranges::count(rest, std::byte{0}) == std::ssize(rest)) return;
  refuse(Code::zip_extra_malformed,  // F30
         concat(rest.size(), " stray bytes follow the extra fields, too few for a field and not zero"));
}

/// F6: accepts any field, and zeros after the last one, because zipalign pads with zeros that do not form a field.
KnownFields read_known_fields(Bytes extra, const HeaderContext& refuse) {
  KnownFields found;
  while (extra.size() >= extra_header_size) {
    const auto [id, payload] = take_extra_field(extra, refuse);
    if (id == asi_unix_extra_id || id == libarchive_extra_id) {  // F29
      refuse(Code::zip_extra_unknown,
             concat("the extra field ", base::hex(id),
                    " says what kind of file the entry is, and only some readers obey it: write the zip again"));
    }
    std::optional<Bytes>* field = id == zip64_extra_id          ? &found.zip64
                                  : id == padding_extra_id      ? &found.padding
                                  : id == alignment_extra_id    ? &found.alignment
                                  : id == unicode_path_extra_id ? &found.unicode_path
                                                                : nullptr;
    if (field == nullptr) continue;  // the field does not affect how the entry is read
    if (*field) refuse_second_field(refuse);
    *field = payload;
  }
  refuse_stray_bytes(extra, refuse);
  return found;
}

/// F28: refuses a Unicode path field that gives the entry a different name. Info-ZIP's field holds the name in UTF-8 if
/// the header has it in another encoding. Only some readers use it, and these ignore it if its CRC-32 is not that of
/// the header's name.
void check_unicode_path(const KnownFields& fields, const HeaderContext& refuse) {
  constexpr std::size_t head = 5;  // version, CRC-32 of the header's name
  if (!fields.unicode_path || fields.unicode_path->size() < head) return;
  if (base::load<std::uint32_t>(*fields.unicode_path, 1) != base::crc32(0, as_bytes(refuse.name()))) return;
  const std::string_view other = as_text(fields.unicode_path->subspan(head));
  if (other == refuse.name()) return;
  refuse(Code::zip_extra_unknown,  // F28
         concat("a Unicode path field gives the entry a different name for some readers, ", base::quoted(other)));
}

void check_flags(std::uint16_t flags, const HeaderContext& refuse) {
  if ((flags & (flag_encrypted | flag_strong_encryption | flag_masked)) != 0) {  // F33
    refuse(Code::zip_entry_encrypted, "the entry is encrypted; make a zip without a password");
  }
  if ((flags & flag_patch) != 0) refuse(Code::zip_entry_flags, "the entry is a patch of another entry");  // F33
}

void check_version(std::uint16_t version, const HeaderContext& refuse) {
  if (version <= version_zip64) return;
  refuse(Code::zip_entry_version,  // F32
         concat("version ", version, " is needed to read the entry; versions up to ", version_zip64, " are read"));
}

/// F4: checks the attributes, whatever host "version made by" states, because some readers interpret them without
/// regard to the host. Only the host Amiga has a definition of its own that conflicts with the others: its type of a
/// file consists of the bits that are setuid and setgid in a Unix mode.
void check_attributes(std::uint32_t attributes, bool amiga, const ForeignEntry& entry, const HeaderContext& refuse) {
  const std::uint32_t type = (attributes >> 16U) & unix_type_mask;
  const bool amiga_folder = amiga && ((attributes >> 16U) & amiga_type_mask) == amiga_folder_type;
  const bool is_file_or_folder = type == 0 || type == unix_regular_file || (type == unix_folder && entry.folder);
  if (!is_file_or_folder || (attributes & windows_reparse_point) != 0) {  // F19
    refuse(Code::zip_entry_attributes, "the entry is a link or device; only files and folders are read");
  }
  if ((attributes & dos_volume) != 0) {  // F20
    refuse(Code::zip_entry_attributes, "the entry is marked as the name of a volume, which some readers skip");
  }
  if (((attributes & dos_directory) != 0 || amiga_folder) && !entry.folder) {  // F20
    refuse(Code::zip_entry_attributes,
           "the entry has the name of a file and is marked as a folder: some readers see a file, others a folder");
  }
}

void check_kind(const CentralFileHeader& central, const ForeignEntry& entry, const HeaderContext& refuse) {
  if (central.method != method_stored && central.method != method_deflated) {  // F3, F33
    refuse(Code::zip_entry_method,
           concat("the entry is compressed with method ", central.method, "; stored and deflated are read"));
  }
  check_disk(central.disk_number_start, refuse);  // F33
  const bool amiga = (central.version_made_by & 0xff00U) == host_amiga;
  check_attributes(central.external_file_attributes, amiga, entry, refuse);
}

void check_name(const ForeignEntry& entry, const HeaderContext& refuse) {
  // F24: a folder's name ends in a slash, so the rules of names apply to it without that slash.
  const std::string_view name = entry.folder ? entry.name.substr(0, entry.name.size() - 1) : entry.name;
  if (const auto fault = unreadable_name_fault(name)) refuse(fault->code, std::string(fault->message));
}

void check_sizes(const ForeignEntry& entry, const HeaderContext& refuse) {
  if (entry.folder && entry.size != 0) {  // F25
    refuse(Code::zip_name_directory, "the entry has the name of a folder, but holds data");
  }
  if (!entry.deflated) check_stored_sizes(entry.size, entry.stored_size, refuse);  // F26
  // F34: sums of sizes rely on this bound, so it is checked before any data is read.
  if (entry.deflated && !can_inflate_to(entry.stored_size, entry.size)) {
    refuse(Code::zip_data_inflate, concat("the entry states that ", entry.stored_size, " bytes inflate to ", entry.size,
                                          ", which is impossible with deflate"));
  }
}

bool is_ascii(std::string_view name) {
  return std::ranges::all_of(name, [](char byte) { return static_cast<unsigned char>(byte) < 0x80; });
}

/// The sizes that the local header states. They may be 0 if a descriptor follows the data.
struct LocalSizes {
  std::uint64_t size;
  std::uint64_t stored_size;
};

/// Reads the sizes from the header or its zip64 field. Some readers assign the values of the field to the sentinels one
/// by one, others by position. Both must find the same values (F17).
LocalSizes read_local_sizes(const LocalFileHeader& local, const KnownFields& fields, const HeaderContext& refuse) {
  const std::array<std::uint32_t, 2> narrow = {local.uncompressed_size, local.compressed_size};
  const auto sentinels = std::ranges::count(narrow, sentinel32);
  const Bytes field = fields.zip64.value_or(Bytes());
  if (sentinels != 0 && field.empty()) {
    refuse_missing_local_zip64(refuse);  // F18
  }
  std::array<std::uint64_t, 2> wide = {narrow[0], narrow[1]};
  for (std::size_t i = 0; i < wide.size() && field.size() >= (i + 1) * zip64_value_size; ++i) {
    wide.at(i) = base::load<std::uint64_t>(field, i * zip64_value_size);
  }
  const bool holds_both = field.size() >= local_zip64_payload;
  const bool differ_by_reader = sentinels == 1 && wide[0] != wide[1];
  if (sentinels != 0 && (!holds_both || differ_by_reader)) {  // F17
    refuse(Code::zip_zip64_extra,
           "the local header refers to the zip64 field for one of its sizes only: readers disagree on which "
           "value of the field that is");
  }
  const auto contradicts = [](std::uint32_t in_header, std::uint64_t in_field) {
    return in_header != sentinel32 && in_header != in_field;
  };
  // Also if the other size is a sentinel: readers that assign the values one by one take this size from the header.
  if (contradicts(narrow[0], wide[0]) || contradicts(narrow[1], wide[1])) {  // F7, F18
    refuse(Code::zip_zip64_extra, "the zip64 field of the local header contradicts its sizes");
  }
  return {wide[0], wide[1]};
}

void check_local_fields(const LocalFileHeader& local, const LocalSizes& sizes, const ForeignEntry& entry,
                        const HeaderContext& refuse) {
  check_flags(local.flags, refuse);
  check_version(local.version_needed, refuse);
  // F5: bit 11 does not matter for a name in ASCII. For other names it must agree, because some readers use the local
  // header's bit and others the directory's.
  const unsigned free = is_ascii(refuse.name()) ? unsigned{flag_utf8} : 0U;
  if (((local.flags ^ entry.flags) & ~free) != 0) {  // F15
    refuse(Code::zip_local_field,
           concat("the local header says flags ", base::hex(local.flags), ", the directory ", base::hex(entry.flags)));
  }
  if (local.method != (entry.deflated ? method_deflated : method_stored)) {  // F15
    refuse(Code::zip_local_field, concat("the local header says method ", local.method, ", the directory ",
                                         entry.deflated ? method_deflated : method_stored));
  }
  // F3: a writer to a pipe knows sizes and CRC-32 only after the data. It leaves zeros here, and a descriptor follows.
  const bool streamed = (local.flags & flag_descriptor) != 0;
  const auto agrees = [streamed](std::uint64_t here, std::uint64_t there) {
    return here == there || (streamed && here == 0);
  };
  if (!agrees(sizes.size, entry.size) || !agrees(sizes.stored_size, entry.stored_size)) {  // F15
    refuse(Code::zip_local_size,
           concat("the sizes in the local header are not the directory's ", entry.stored_size, " and ", entry.size));
  }
  if (!agrees(local.crc32, entry.crc32)) {  // F15
    refuse(Code::zip_local_field,
           concat("the local header says CRC-32 ", base::hex(local.crc32), ", the directory ", base::hex(entry.crc32)));
  }
}

/// F6: the alignment that a padding record states; 0 without one, or if archives cannot have that alignment. Bit 15 of
/// the number in 0xA11E is a flag and not a part of the alignment.
std::uint64_t recorded_alignment_of(const KnownFields& fields) {
  std::uint64_t alignment = 0;
  if (fields.padding && fields.padding->size() >= 2) {
    alignment = base::load<std::uint16_t>(*fields.padding, 0);
  } else if (fields.alignment && fields.alignment->size() >= 2) {
    alignment = base::load<std::uint16_t>(*fields.alignment, 0) & ~unsigned{alignment_extra_flag};
  }
  return is_valid_alignment(alignment) ? alignment : 0;
}

/// Returns the length of the descriptor at the front of `rest`; nothing unless it agrees with the directory. Its form
/// is not recorded anywhere, so all four forms are tried: with or without a signature, with 64-bit or 32-bit sizes.
std::optional<std::uint64_t> descriptor_length(Bytes rest, const ForeignEntry& entry) {
  constexpr std::size_t crc_size = sizeof(std::uint32_t);
  for (const std::uint64_t head : {sizeof descriptor_signature, std::size_t{0}}) {
    if (rest.size() < head || (head != 0 && base::load<std::uint32_t>(rest, 0) != descriptor_signature)) continue;
    const Bytes fields = base::section(rest, head);
    if (fields.size() < descriptor_size || base::load<std::uint32_t>(fields, 0) != entry.crc32) continue;
    if (fields.size() >= zip64_descriptor_size && base::load<std::uint64_t>(fields, crc_size) == entry.stored_size &&
        base::load<std::uint64_t>(fields, crc_size + sizeof(std::uint64_t)) == entry.size) {
      return head + zip64_descriptor_size;
    }
    if (base::load<std::uint32_t>(fields, crc_size) == entry.stored_size &&
        base::load<std::uint32_t>(fields, crc_size + sizeof(std::uint32_t)) == entry.size) {
      return head + descriptor_size;
    }
  }
  return std::nullopt;
}

}  // namespace

ForeignHeader read_foreign_central(Bytes directory, std::uint64_t offset, bool any_names) {
  const auto central = parse_central_file_header(directory);
  ForeignHeader result;
  result.length = proved_length(central, directory, offset);
  ForeignEntry& entry = result.entry;
  entry.name = as_text(directory.subspan(central_file_header_size, central->file_name_length));
  entry.folder = entry.name.size() > 1 && entry.name.back() == '/';
  entry.central_offset = offset;
  entry.crc32 = central->crc32;
  entry.deflated = central->method == method_deflated;
  entry.flags = central->flags;
  const HeaderContext refuse(entry.name, offset);
  if (!any_names) check_name(entry, refuse);
  check_flags(central->flags, refuse);
  check_kind(*central, entry, refuse);
  check_version(central->version_needed, refuse);
  const KnownFields fields = read_known_fields(
      directory.subspan(central_file_header_size + entry.name.size(), central->extra_field_length), refuse);
  check_unicode_path(fields, refuse);
  const WideFields wide = read_wide_fields(*central, fields.zip64, Rules::foreign, refuse);
  entry.size = wide.size;
  entry.stored_size = wide.compressed_size;
  entry.header_offset = wide.header_offset;
  check_sizes(entry, refuse);
  return result;
}

void read_foreign_local(Bytes file, std::uint64_t limit, ForeignEntry& entry) {
  if (entry.header_offset >= limit) {  // F27
    throw Error(Code::zip_entry_bounds, std::string(header_after_directory),
                {std::string(entry.name), entry.central_offset});
  }
  const HeaderContext refuse(entry.name, entry.header_offset);
  const Bytes room = base::section(file, entry.header_offset, limit - entry.header_offset);
  const LocalParts local = read_local_parts(room, refuse);
  check_local_name(local, refuse);  // F15
  const KnownFields fields = read_known_fields(local.extra, refuse);
  check_unicode_path(fields, refuse);
  check_local_fields(*local.header, read_local_sizes(*local.header, fields, refuse), entry, refuse);
  if (!base::in_range(local.length, entry.stored_size, room.size())) {  // F27
    refuse(Code::zip_entry_bounds, concat("the entry's ", entry.stored_size, " bytes run into the directory"));
  }
  // Neither sum can wrap: `room` has header and data.
  entry.data_offset = entry.header_offset + local.length;
  entry.end = entry.data_offset + entry.stored_size;
  if ((local.header->flags & flag_descriptor) != 0) {
    const auto descriptor = descriptor_length(base::section(file, entry.end, limit - entry.end), entry);
    if (!descriptor) {  // F16
      refuse(Code::zip_entry_descriptor, "no data descriptor that agrees with the directory follows the data");
    }
    entry.end += *descriptor;
  }
  entry.alignment = recorded_alignment_of(fields);
}

}  // namespace onnxar::zip
