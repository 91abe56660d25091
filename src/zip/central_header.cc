#include "zip/central_header.h"

#include "base/text.h"
#include "onnxar/error.h"
#include "zip/extra_fields.h"
#include "zip/names.h"
#include "zip/records.h"
#include "zip/wide_fields.h"

namespace onnxar::zip {
namespace {

/// Places cost an allocation, so they are made where something is wrong.
class ErrorContext {
 public:
  ErrorContext(std::string_view name, std::uint64_t offset) : name_(name), offset_(offset) {}
  [[noreturn]] void operator()(Code code, std::string_view message) const {
    throw Error(code, std::string(message), {std::string(name_), offset_});
  }

 private:
  std::string_view name_;
  std::uint64_t offset_;
};

void check_flags(const CentralFileHeader& header, const ErrorContext& refuse) {
  if ((header.flags & (flag_encrypted | flag_strong_encryption | flag_masked)) != 0) {
    refuse(Code::zip_entry_encrypted, "the entry is encrypted");
  }
  if ((header.flags & flag_descriptor) != 0) {
    refuse(Code::zip_entry_descriptor, "the entry's size and CRC stand behind its data (data descriptor)");
  }
  if ((header.flags & ~unsigned{flag_utf8}) != 0) {  // says nothing of a name that is ASCII
    refuse(Code::zip_entry_flags, base::concat("general purpose flags ", base::hex(header.flags), " are not allowed"));
  }
}

bool is_regular_file(std::uint32_t external_attributes) {
  const std::uint32_t type = (external_attributes >> 16U) & unix_type_mask;
  return (type == 0 || type == unix_regular_file) &&
         (external_attributes & (dos_directory | dos_volume | windows_reparse_point)) == 0;
}

void check_fixed_fields(const CentralFileHeader& header, const ErrorContext& refuse) {
  if (header.method != method_stored) {
    refuse(Code::zip_entry_method,
           base::concat("the entry is compressed (method ", header.method, "); entries must be stored"));
  }
  if (header.version_needed < version_plain || header.version_needed > version_zip64) {
    refuse(Code::zip_entry_version,
           base::concat("version ", header.version_needed, " needed to extract; 10 to 45 are read"));
  }
  if (header.disk_number_start != 0) refuse(Code::zip_entry_disk, "the entry is said to lie on another disk");
  if (header.file_comment_length != 0) refuse(Code::zip_entry_comment, "the entry has a comment; none is allowed");
  // 7-Zip reads the Unix mode of an entry from another host in that host's way: as a folder, for one.
  const auto host = static_cast<std::uint16_t>(header.version_made_by & 0xff00U);
  if (host != 0 && host != host_unix) {
    refuse(Code::zip_entry_attributes, base::concat("made on host ", host >> 8U, "; 0 (MS-DOS) and 3 (Unix) are read"));
  }
  if ((header.internal_file_attributes & ~unsigned{internal_text}) != 0) {
    refuse(Code::zip_entry_attributes, "internal attributes must be 0, except the bit for text");
  }
  if (!is_regular_file(header.external_file_attributes)) {
    refuse(Code::zip_entry_attributes, "the entry is not a regular file (a folder, link or device)");
  }
}

void read_sizes(const CentralFileHeader& header, const ExtraFields& extra, DirectoryEntry& entry,
                const ErrorContext& refuse) {
  const WideFields wide = read_wide_fields(header, extra.zip64, entry.name, entry.central_offset, Rules::archive);
  if (wide.size != wide.compressed_size) {
    refuse(Code::zip_entry_sizes, "the entry is stored, but its two sizes differ");
  }
  entry.unneeded_zip64 = extra.zip64 && !wide.needed;
  entry.size = wide.size;
  entry.header_offset = wide.header_offset;
}

/// What the directory repeats of the local header's alignment record; 0 where it does not.
std::uint16_t read_alignment(const ExtraFields& extra, const ErrorContext& refuse) {
  if (!extra.padding) return 0;
  const auto alignment =
      extra.padding->size() == 2 ? recorded_alignment(extra.padding_id, *extra.padding) : std::nullopt;
  if (!alignment) {
    refuse(Code::zip_extra_alignment,
           "the extra field 0xa11e in the directory must be an alignment and nothing else: 2 bytes, a power of two "
           "from 64 to 16384");
  }
  return static_cast<std::uint16_t>(*alignment);
}

}  // namespace

std::uint64_t proved_length(const std::optional<CentralFileHeader>& header, Bytes directory, std::uint64_t offset) {
  if (!header) {
    throw Error(Code::zip_directory_header, "no directory header where one has to be", {"", offset});
  }
  const std::uint64_t length =
      central_file_header_size + header->file_name_length + header->extra_field_length + header->file_comment_length;
  if (length > directory.size()) {
    throw Error(Code::zip_directory_header, "a directory header runs past the end of the directory", {"", offset});
  }
  return length;
}

std::uint64_t read_central_header(Bytes directory, std::uint64_t offset, DirectoryEntry& entry) {
  const auto header = parse_central_file_header(directory);
  const std::uint64_t length = proved_length(header, directory, offset);
  entry.central_offset = offset;
  entry.name = as_text(directory.subspan(central_file_header_size, header->file_name_length));
  const ErrorContext refuse(entry.name, offset);
  if (const auto fault = name_fault(entry.name)) refuse(fault->code, fault->message);
  check_flags(*header, refuse);
  check_fixed_fields(*header, refuse);
  ExtraFields extra;
  if (header->extra_field_length != 0) {
    const Bytes fields = directory.subspan(central_file_header_size + entry.name.size(), header->extra_field_length);
    extra = read_extra_fields(fields, HeaderKind::directory, entry.name, offset);
  }
  read_sizes(*header, extra, entry, refuse);
  if (entry.size == 0 && header->crc32 != 0)
    refuse(Code::zip_entry_empty_crc, "the entry is empty, but its CRC is not 0");
  entry.alignment = read_alignment(extra, refuse);
  entry.crc32 = header->crc32;
  entry.last_mod_time = header->last_mod_time;
  entry.last_mod_date = header->last_mod_date;
  return length;
}

}  // namespace onnxar::zip
