// Reads and checks the directory header of an entry of a strict archive.
#include "zip/central_header.h"

#include <optional>

#include "base/text.h"
#include "onnxar/error.h"
#include "zip/extra_fields.h"
#include "zip/format.h"
#include "zip/names.h"
#include "zip/records.h"
#include "zip/shared_checks.h"
#include "zip/wide_fields.h"

// The checks follow the order of spec/checking.md, steps 15 to 30. A file that breaks several rules is refused for the
// first of them, and the vectors state which rule that is.

namespace onnxar::zip {
namespace {

using base::concat;

void check_flags(const CentralFileHeader& header, const HeaderContext& refuse) {
  if ((header.flags & (flag_encrypted | flag_strong_encryption | flag_masked)) != 0) {  // D2
    refuse(Code::zip_entry_encrypted, "the entry is encrypted");
  }
  // D3: bytes of stored data may look like a descriptor, so readers that do not use the directory cannot find its end.
  if ((header.flags & flag_descriptor) != 0) {
    refuse(Code::zip_entry_descriptor, "the entry's size and CRC-32 follow its data (data descriptor)");
  }
  if ((header.flags & ~unsigned{flag_utf8}) != 0) {  // D4: bit 11 has no effect, because names are ASCII
    refuse(Code::zip_entry_flags, concat("general purpose flags ", base::hex(header.flags), " are not allowed"));
  }
}

bool is_regular_file(std::uint32_t external_attributes) {
  const std::uint32_t type = (external_attributes >> 16U) & unix_type_mask;
  return (type == 0 || type == unix_regular_file) &&
         (external_attributes & (dos_directory | dos_volume | windows_reparse_point)) == 0;
}

void check_attributes(const CentralFileHeader& header, const HeaderContext& refuse) {
  // D9: 7-Zip interprets the Unix mode by the host's definition, and takes a file for a folder under some hosts.
  const auto host = static_cast<std::uint16_t>(header.version_made_by & 0xff00U);
  if (host != 0 && host != host_unix) {
    refuse(Code::zip_entry_attributes, concat("made on host ", host >> 8U, "; 0 (MS-DOS) and 3 (Unix) are read"));
  }
  if ((header.internal_file_attributes & ~unsigned{internal_text}) != 0) {  // D9
    refuse(Code::zip_entry_attributes, "internal attributes must be 0, except the bit for text");
  }
  if (!is_regular_file(header.external_file_attributes)) {  // D9
    refuse(Code::zip_entry_attributes, "the entry is not a regular file (a folder, link or device)");
  }
}

void check_fixed_fields(const CentralFileHeader& header, const HeaderContext& refuse) {
  if (header.method != method_stored) {  // D5
    refuse(Code::zip_entry_method,
           concat("the entry is compressed (method ", header.method, "); entries must be stored"));
  }
  if (!is_known_version(header.version_needed)) {  // D6
    refuse(Code::zip_entry_version,
           concat("version ", header.version_needed, " needed to extract; ", known_versions(), " are read"));
  }
  check_disk(header.disk_number_start, refuse);  // D7
  if (header.file_comment_length != 0) {         // D8
    refuse(Code::zip_entry_comment, "the entry has a comment, which is not allowed");
  }
  check_attributes(header, refuse);
}

void read_sizes(const CentralFileHeader& header, const ExtraFields& extra, DirectoryEntry& entry,
                const HeaderContext& refuse) {
  const WideFields wide = read_wide_fields(header, extra.zip64, Rules::archive, refuse);  // D13, D7
  check_stored_sizes(wide.size, wide.compressed_size, refuse);                            // D14
  entry.unneeded_zip64 = extra.zip64 && !wide.needed;
  entry.size = wide.size;
  entry.header_offset = wide.header_offset;
}

/// Returns the alignment that the directory repeats from the local header; 0 if it does not repeat it.
std::uint16_t repeated_alignment(const ExtraFields& extra, const HeaderContext& refuse) {
  if (!extra.padding) return 0;
  const auto alignment =
      extra.padding->size() == 2 ? recorded_alignment(extra.padding_id, *extra.padding) : std::nullopt;
  if (!alignment) {  // D16
    refuse(Code::zip_extra_alignment,
           concat("the extra field ", base::hex(alignment_extra_id),
                  " in the directory must be an alignment and nothing else: 2 bytes, a power of two from ",
                  alignment_minimum, " to ", alignment_extra_maximum));
  }
  return static_cast<std::uint16_t>(*alignment);
}

}  // namespace

std::uint64_t read_central_header(Bytes directory, std::uint64_t offset, DirectoryEntry& entry) {
  const auto header = parse_central_file_header(directory);
  const std::uint64_t length = proved_length(header, directory, offset);  // D1
  entry.central_offset = offset;
  entry.name = as_text(directory.subspan(central_file_header_size, header->file_name_length));
  const HeaderContext refuse(entry.name, offset);
  if (!is_plain_name(entry.name)) {
    if (const auto fault = name_fault(entry.name)) refuse(fault->code, fault->message);  // N1 to N17
    entry.in_folder = true;  // nothing else distinguishes an allowed name from a plain one
  }
  check_flags(*header, refuse);
  check_fixed_fields(*header, refuse);
  ExtraFields extra;
  if (header->extra_field_length != 0) {
    const Bytes fields = directory.subspan(central_file_header_size + entry.name.size(), header->extra_field_length);
    extra = read_extra_fields(fields, HeaderKind::directory, refuse);
  }
  read_sizes(*header, extra, entry, refuse);
  if (entry.size == 0 && header->crc32 != 0) {  // D15
    refuse(Code::zip_entry_empty_crc, "the entry is empty, but its CRC is not 0");
  }
  entry.alignment = repeated_alignment(extra, refuse);
  entry.crc32 = header->crc32;
  entry.last_mod_time = header->last_mod_time;
  entry.last_mod_date = header->last_mod_date;
  return length;
}

}  // namespace onnxar::zip
