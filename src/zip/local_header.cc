#include "zip/local_header.h"

#include <array>
#include <cstring>
#include <optional>

#include "base/checked.h"
#include "base/little_endian.h"
#include "base/text.h"
#include "onnxar/error.h"
#include "zip/end_records.h"
#include "zip/extra_fields.h"
#include "zip/format.h"
#include "zip/layout.h"
#include "zip/records.h"

namespace onnxar::zip {
namespace {

[[noreturn]] void refuse(const DirectoryEntry& entry, Code code, std::string_view message, Hint hint = Hint::none) {
  throw Error(code, std::string(message), {std::string(entry.name), entry.header_offset}, {}, {hint});
}

void check_same_fields(const LocalFileHeader& header, const DirectoryEntry& entry) {
  const auto same = [&entry](std::uint64_t local, std::uint64_t central, std::string_view field) {
    if (local == central) return;
    refuse(
        entry, Code::zip_local_field,
        base::concat("the local header says ", field, " ", base::hex(local), ", the directory ", base::hex(central)));
  };
  same(header.flags & ~unsigned{flag_utf8}, 0, "flags");  // the directory was held against the same rule
  same(header.method, method_stored, "method");
  same(header.last_mod_time, entry.last_mod_time, "time");
  same(header.last_mod_date, entry.last_mod_date, "date");
  same(header.crc32, entry.crc32, "CRC-32");
}

/// 7-Zip does not take a longer one for the beginning of a zip file. It looks for the next one, and where that is the
/// model before an edit, it reads that.
void check_length(std::uint64_t length, const DirectoryEntry& entry) {
  if (length <= local_header_maximum) return;
  refuse(entry, Code::zip_local_header,
         base::concat("the local file header takes ", length, " bytes with name and extra fields; at most ",
                      local_header_maximum, " are read the same by all"),
         Hint::repack_shortens);
}

/// Stock writers state another version here than in the directory: it says what to read the entry with, not what it is.
void check_version(const LocalFileHeader& header, const DirectoryEntry& entry) {
  if (header.version_needed >= version_plain && header.version_needed <= version_zip64) return;
  refuse(entry, Code::zip_entry_version,
         base::concat("version ", header.version_needed, " needed to extract in the local header; 10 to 45 are read"));
}

/// Whether the sizes stand in a zip64 field; they must be the directory's either way.
bool check_sizes(const LocalFileHeader& header, const ExtraFields& extra, const DirectoryEntry& entry) {
  if (!extra.zip64) {
    if (header.compressed_size == sentinel32 || header.uncompressed_size == sentinel32) {
      refuse(entry, Code::zip_zip64_extra, "the sizes are in a zip64 field that is missing from the local header");
    }
    if (header.compressed_size != entry.size || header.uncompressed_size != entry.size) {
      refuse(entry, Code::zip_local_size,
             base::concat("the local header says another size than the directory's ", entry.size));
    }
    return false;
  }
  if (extra.zip64->size() != 16) {
    refuse(entry, Code::zip_zip64_extra, "a zip64 field in a local header holds both sizes and nothing else");
  }
  const std::array<std::uint64_t, 2> wide = {base::load<std::uint64_t>(*extra.zip64, 0),
                                             base::load<std::uint64_t>(*extra.zip64, 8)};
  const auto agrees = [&entry](std::uint32_t narrow) { return narrow == sentinel32 || narrow == entry.size; };
  if (wide[0] != entry.size || wide[1] != entry.size || !agrees(header.compressed_size) ||
      !agrees(header.uncompressed_size)) {
    refuse(entry, Code::zip_local_size,
           base::concat("the local header's zip64 sizes are not the directory's ", entry.size));
  }
  return true;
}

/// A page of them stands before each large entry, and memcmp is many times as fast as a loop that may end at any byte.
bool all_zero(Bytes bytes) noexcept {
  if (bytes.empty()) return true;
  return bytes.front() == std::byte{0} && std::memcmp(bytes.data(), bytes.data() + 1, bytes.size() - 1) == 0;
}

/// Errors: zip.padding.record, .alignment.
std::uint64_t read_alignment(const ExtraFields& extra, const DirectoryEntry& entry) {
  if (!extra.padding) return alignment_minimum;
  if (extra.padding->size() < 2) {
    refuse(entry, Code::zip_padding_record, "the padding record is too short to hold an alignment");
  }
  const auto alignment = recorded_alignment(extra.padding_id, *extra.padding);
  if (!alignment) {
    refuse(
        entry, Code::zip_padding_alignment,
        base::concat("the padding record ", base::hex(extra.padding_id), " says alignment ",
                     base::load<std::uint16_t>(*extra.padding, 0), "; a power of two from 64 to ",
                     extra.padding_id == padding_extra_id ? alignment_maximum : alignment_extra_maximum, " is needed"));
  }
  return *alignment;
}

/// Some writers repeat the alignment in the directory, and some readers look only there.
void check_repeated_alignment(const ExtraFields& extra, std::uint64_t alignment, const DirectoryEntry& entry) {
  if (entry.alignment == 0) return;
  if (extra.padding_id == alignment_extra_id && alignment == entry.alignment) return;
  refuse(entry, Code::zip_extra_alignment,
         base::concat("the directory says alignment ", entry.alignment,
                      " in an extra field 0xa11e, and the local header has none that says so"));
}

/// The alignment that the data has to have, and has. The place is in the file, however long the padding is.
std::uint64_t check_padding(const ExtraFields& extra, std::uint64_t data_offset, const DirectoryEntry& entry) {
  const std::uint64_t alignment = read_alignment(extra, entry);
  if (data_offset % alignment != 0) {
    refuse(entry, Code::zip_padding_alignment,
           base::concat("the data at ", base::hex(data_offset), " is not aligned to ", alignment, " bytes",
                        extra.padding ? " as the padding record says" : ""));
  }
  check_repeated_alignment(extra, alignment, entry);
  if (extra.padding && !all_zero(extra.padding->subspan(2))) {
    refuse(entry, Code::zip_padding_record, "the padding is not all zero");
  }
  return alignment;
}

/// The end of the state that bytes behind an entry's data are left of, if they are.
std::optional<EndOfArchive> end_of_superseded_tail(Bytes file, std::uint64_t data_end, std::uint64_t limit) {
  try {
    const EndOfArchive end = read_end(file.first(limit));
    return end.directory_offset >= data_end ? std::optional(end) : std::nullopt;
  } catch (const Error&) {
    return std::nullopt;
  }
}

void check_rest(Bytes file, const DirectoryEntry& entry, std::uint64_t data_end, std::uint64_t limit, Tail tail) {
  if (data_end == limit) return;
  if (data_end > limit) {
    const bool last = tail == Tail::forbidden;
    refuse(entry, last ? Code::zip_entry_bounds : Code::zip_entry_overlap,
           base::concat("the entry's data ends at ", base::hex(data_end), ", behind ", base::hex(limit), " where the ",
                        last ? "directory" : "next header", " begins"));
  }
  const auto superseded = tail == Tail::forbidden ? std::nullopt : end_of_superseded_tail(file, data_end, limit);
  if (!superseded) {
    throw Error(Code::zip_entry_gap, base::concat(limit - data_end, " bytes behind the data belong to no entry"),
                {std::string(entry.name), data_end});
  }
  if (superseded->zip64 && tail == Tail::without_zip64) {
    throw Error(Code::zip_entry_gap,
                "the state before an edit has zip64 end records, the archive has none: some readers take the former "
                "for its end; an edit has to keep them",
                {std::string(entry.name), data_end});
  }
}

}  // namespace

LocalEntry read_local_header(Bytes room, const DirectoryEntry& entry) {
  const auto header = parse_local_file_header(room);
  if (!header) refuse(entry, Code::zip_local_header, "no local file header where the directory points");
  const std::uint64_t length = local_file_header_size + header->file_name_length + header->extra_field_length;
  if (length > room.size()) {
    refuse(entry, Code::zip_local_header, "the local file header runs into the next entry or the directory");
  }
  check_length(length, entry);
  const std::string_view name = as_text(room.subspan(local_file_header_size, header->file_name_length));
  if (name != entry.name) {
    refuse(entry, Code::zip_local_name, base::concat("the local header has another name: ", base::quoted(name)));
  }
  check_same_fields(*header, entry);
  check_version(*header, entry);
  const Bytes extra_bytes = room.subspan(local_file_header_size + name.size(), header->extra_field_length);
  const ExtraFields extra = read_extra_fields(extra_bytes, HeaderKind::local, entry.name, entry.header_offset);
  const bool zip64 = check_sizes(*header, extra, entry);
  const std::uint64_t data_offset = entry.header_offset + length;
  const std::uint64_t alignment = check_padding(extra, data_offset, entry);
  return {data_offset, alignment, zip64 && !needs_zip64_local(entry.size)};
}

LocalEntry read_local_header(Bytes file, const DirectoryEntry& entry, std::uint64_t limit, Tail tail) {
  const LocalEntry local = read_local_header(file.subspan(entry.header_offset, limit - entry.header_offset), entry);
  check_rest(file, entry, local.data_offset + entry.size, limit, tail);
  return local;
}

}  // namespace onnxar::zip
