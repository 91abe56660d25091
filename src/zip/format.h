// The zip records as APPNOTE 6.3.10 lays them out, and the constants of the strict profile.
//
// This header is the only place that defines numbers of the container format. Field names are those of APPNOTE.
#pragma once

#include <cstdint>

#include "onnxar/bytes.h"

namespace onnxar::zip {

// Signatures (APPNOTE 4.3.7, 4.3.12, 4.3.14 to 4.3.16)
inline constexpr std::uint32_t local_file_signature = 0x04034b50;
inline constexpr std::uint32_t central_file_signature = 0x02014b50;
inline constexpr std::uint32_t zip64_end_signature = 0x06064b50;
inline constexpr std::uint32_t zip64_locator_signature = 0x07064b50;
inline constexpr std::uint32_t end_signature = 0x06054b50;
inline constexpr std::uint32_t descriptor_signature = 0x08074b50;  // optional (APPNOTE 4.3.9.3)

// Sizes of the records without their variable parts
inline constexpr std::uint64_t local_file_header_size = 30;
inline constexpr std::uint64_t central_file_header_size = 46;
inline constexpr std::uint64_t end_record_size = 22;
inline constexpr std::uint64_t zip64_end_record_size = 56;
inline constexpr std::uint64_t zip64_locator_size = 20;
inline constexpr std::uint64_t end_records_maximum = zip64_end_record_size + zip64_locator_size + end_record_size;
inline constexpr std::uint64_t descriptor_size = 12;        // CRC-32 and both sizes, after an optional signature
inline constexpr std::uint64_t zip64_descriptor_size = 20;  // with sizes of 64 bits

// A 32-bit or 16-bit field with this value refers to the zip64 record (APPNOTE 4.4.8, 4.4.9, 4.4.16, 4.4.1.4)
inline constexpr std::uint32_t sentinel32 = 0xffffffff;
inline constexpr std::uint16_t sentinel16 = 0xffff;
inline constexpr std::uint64_t comment_maximum = 0xffff;  // its length has 16 bits

// Extra fields (APPNOTE 4.5)
inline constexpr std::uint16_t zip64_extra_id = 0x0001;
inline constexpr std::uint16_t padding_extra_id = 0xd935;         // "Android ZIP Alignment Extra Field", which we write
inline constexpr std::uint16_t alignment_extra_id = 0xa11e;       // written by Apache Commons Compress and Rust's zip
inline constexpr std::uint16_t alignment_extra_flag = 1U << 15U;  // bit of its alignment: tools may change the method
inline constexpr std::uint16_t unicode_path_extra_id = 0x7075;    // Info-ZIP's (APPNOTE 4.6.9)
inline constexpr std::uint16_t asi_unix_extra_id = 0x756e;        // a Unix mode, read by Info-ZIP
inline constexpr std::uint16_t libarchive_extra_id = 0x6c78;      // attributes, read by libarchive
inline constexpr std::uint64_t extra_header_size = 4;             // id, size
inline constexpr std::uint64_t padding_minimum = extra_header_size + 2;  // id, size, alignment
inline constexpr std::uint64_t zip64_value_size = 8;
inline constexpr std::uint64_t local_zip64_payload = 2 * zip64_value_size;  // both sizes, never the offset
inline constexpr std::uint64_t local_zip64_extra_size = extra_header_size + local_zip64_payload;

// General purpose flags (APPNOTE 4.4.4)
inline constexpr std::uint16_t flag_encrypted = 1U << 0U;
inline constexpr std::uint16_t flag_descriptor = 1U << 3U;
inline constexpr std::uint16_t flag_patch = 1U << 5U;  // "compressed patched data"
inline constexpr std::uint16_t flag_strong_encryption = 1U << 6U;
inline constexpr std::uint16_t flag_utf8 = 1U << 11U;
inline constexpr std::uint16_t flag_masked = 1U << 13U;

inline constexpr std::uint16_t method_stored = 0;
inline constexpr std::uint16_t method_deflated = 8;
inline constexpr std::uint16_t version_plain = 10;
inline constexpr std::uint16_t version_zip64 = 45;
inline constexpr std::uint16_t host_amiga = 1U << 8U;  // in "version made by", where 0 is MS-DOS
inline constexpr std::uint16_t host_unix = 3U << 8U;
inline constexpr std::uint16_t internal_text = 1U << 0U;  // in the internal attributes (APPNOTE 4.4.14)
inline constexpr std::uint16_t dos_time = 0;
inline constexpr std::uint16_t dos_date = 0x0021;  // 1980-01-01, the first day that the field can represent

// External attributes: a Unix mode in the upper half, DOS attributes in the lowest byte (APPNOTE 4.4.15)
inline constexpr std::uint32_t unix_type_mask = 0170000;
inline constexpr std::uint32_t unix_regular_file = 0100000;
inline constexpr std::uint32_t unix_folder = 0040000;
inline constexpr std::uint32_t amiga_type_mask = 06000;
inline constexpr std::uint32_t amiga_folder_type = 04000;
inline constexpr std::uint32_t dos_directory = 0x10;
inline constexpr std::uint32_t dos_volume = 0x08;
inline constexpr std::uint32_t windows_reparse_point = 0x400;  // a symbolic link, in Windows' attributes

// Limits of the strict profile
inline constexpr std::uint64_t alignment_minimum = default_alignment;
inline constexpr std::uint64_t alignment_maximum = 32768;        // the largest power of two that the u16 field holds
inline constexpr std::uint64_t alignment_extra_maximum = 16384;  // bit 15 of an alignment record is a flag
inline constexpr std::uint64_t page_alignment = 4096;
inline constexpr std::uint64_t page_aligned_from = 1ULL << 20U;  // entries of this size and more begin on a page
inline constexpr std::uint64_t local_header_maximum = 65535;     // with name and extra fields; 7-Zip's limit
inline constexpr std::uint64_t name_maximum = 1024;
inline constexpr std::uint64_t name_part_maximum = 255;  // bytes, the limit of common file systems

/// True if this library knows all features that an entry of this "version needed to extract" may have.
constexpr bool is_known_version(std::uint16_t version) noexcept {
  return version >= version_plain && version <= version_zip64;
}

/// The fields that both headers of an entry have.
struct EntryHeader {
  std::uint16_t version_needed = version_plain;
  std::uint16_t flags = 0;
  std::uint16_t method = method_stored;
  std::uint16_t last_mod_time = dos_time;
  std::uint16_t last_mod_date = dos_date;
  std::uint32_t crc32 = 0;
  std::uint32_t compressed_size = 0;
  std::uint32_t uncompressed_size = 0;
  std::uint16_t file_name_length = 0;
  std::uint16_t extra_field_length = 0;
};

struct LocalFileHeader : EntryHeader {};

struct CentralFileHeader : EntryHeader {
  std::uint16_t version_made_by = version_plain;  // before the common fields; the upper byte is the host: 0, MS-DOS
  std::uint16_t file_comment_length = 0;
  std::uint16_t disk_number_start = 0;
  std::uint16_t internal_file_attributes = 0;
  std::uint32_t external_file_attributes = 0;
  std::uint32_t relative_offset_of_local_header = 0;
};

struct EndRecord {
  std::uint16_t number_of_this_disk = 0;
  std::uint16_t disk_with_directory = 0;
  std::uint16_t entries_on_this_disk = 0;
  std::uint16_t entries = 0;
  std::uint32_t directory_size = 0;
  std::uint32_t directory_offset = 0;
  std::uint16_t comment_length = 0;
};

struct Zip64EndRecord {
  std::uint64_t size_of_record = zip64_end_record_size - 12;  // without signature and this field (APPNOTE 4.3.14.1)
  std::uint16_t version_made_by = version_zip64;
  std::uint16_t version_needed = version_zip64;
  std::uint32_t number_of_this_disk = 0;
  std::uint32_t disk_with_directory = 0;
  std::uint64_t entries_on_this_disk = 0;
  std::uint64_t entries = 0;
  std::uint64_t directory_size = 0;
  std::uint64_t directory_offset = 0;
};

struct Zip64Locator {
  std::uint32_t disk_with_end_record = 0;
  std::uint64_t offset_of_end_record = 0;
  std::uint32_t number_of_disks = 1;
};

}  // namespace onnxar::zip
