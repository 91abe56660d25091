// Reads and checks the local header of an entry of a strict archive, its padding, and what follows its data.
#include "zip/local_header.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>
#include <string_view>

#include "base/byte_range.h"
#include "base/checked.h"
#include "base/little_endian.h"
#include "base/text.h"
#include "onnxar/error.h"
#include "zip/end_records.h"
#include "zip/extra_fields.h"
#include "zip/format.h"
#include "zip/layout.h"
#include "zip/records.h"
#include "zip/shared_checks.h"

namespace onnxar::zip {
namespace {

using base::concat;
using base::hex;

void check_same_fields(const LocalFileHeader& header, const DirectoryEntry& entry, const HeaderContext& refuse) {
  // L3: some readers believe the local header, others the directory.
  const auto same = [&refuse](std::uint64_t local, std::uint64_t central, std::string_view field) {
    if (local == central) return;
    refuse(Code::zip_local_field,
           concat("the local header says ", field, " ", hex(local), ", the directory ", hex(central)));
  };
  same(header.flags & ~unsigned{flag_utf8}, 0, "flags");  // the directory's flags obey D2 to D4
  same(header.method, method_stored, "method");
  same(header.last_mod_time, entry.last_mod_time, "time");
  same(header.last_mod_date, entry.last_mod_date, "date");
  same(header.crc32, entry.crc32, "CRC-32");
}

void check_length(std::uint64_t length, const HeaderContext& refuse) {
  if (length <= local_header_maximum) return;
  // L15: 7-Zip does not accept a longer header as the start of a zip file. It searches on, and may find and read a
  // model that an edit has superseded.
  refuse(Code::zip_local_header,
         concat("the local file header takes ", length, " bytes with name and extra fields; at most ",
                local_header_maximum, " are read by all zip tools"),
         Hint::repack_shortens);
}

void check_version(const LocalFileHeader& header, const HeaderContext& refuse) {
  // L13: the version is not compared with the directory's. Common writers state different versions, and both versions
  // only state the features that are needed to extract the entry.
  if (is_known_version(header.version_needed)) return;
  refuse(Code::zip_entry_version, concat("version ", header.version_needed, " needed to extract in the local header; ",
                                         known_versions(), " are read"));
}

void check_narrow_sizes(const LocalFileHeader& header, const DirectoryEntry& entry, const HeaderContext& refuse) {
  if (header.compressed_size == sentinel32 || header.uncompressed_size == sentinel32) {
    refuse_missing_local_zip64(refuse);  // L7
  }
  if (header.compressed_size == entry.size && header.uncompressed_size == entry.size) return;
  refuse(Code::zip_local_size,  // L8
         concat("the size in the local header is not the directory's ", entry.size));
}

/// Returns whether the sizes are in a zip64 field. They must equal the directory's in either case.
bool check_sizes(const LocalFileHeader& header, const ExtraFields& extra, const DirectoryEntry& entry,
                 const HeaderContext& refuse) {
  if (!extra.zip64) {
    check_narrow_sizes(header, entry, refuse);
    return false;
  }
  if (extra.zip64->size() != local_zip64_payload) {  // L7
    refuse(Code::zip_zip64_extra, "a zip64 field in a local header holds both sizes and nothing else");
  }
  const std::array<std::uint64_t, 2> wide = {base::load<std::uint64_t>(*extra.zip64, 0),
                                             base::load<std::uint64_t>(*extra.zip64, zip64_value_size)};
  const auto agrees = [&entry](std::uint32_t narrow) { return narrow == sentinel32 || narrow == entry.size; };
  if (wide[0] != entry.size || wide[1] != entry.size || !agrees(header.compressed_size) ||
      !agrees(header.uncompressed_size)) {  // L8
    refuse(Code::zip_local_size, concat("the local header's zip64 sizes are not the directory's ", entry.size));
  }
  return true;
}

/// Compares the bytes with themselves, shifted by one. Large entries have up to a page of padding, and memcmp is many
/// times as fast as a loop that may end at any byte.
bool all_zero(Bytes bytes) noexcept {
  if (bytes.empty()) return true;
  return bytes.front() == std::byte{0} && std::memcmp(bytes.data(), bytes.data() + 1, bytes.size() - 1) == 0;
}

std::uint64_t read_padding_alignment(const ExtraFields& extra, const HeaderContext& refuse) {
  if (!extra.padding) return alignment_minimum;
  if (extra.padding->size() < 2) {  // L10
    refuse(Code::zip_padding_record, "the padding record is too short to hold an alignment");
  }
  const auto alignment = recorded_alignment(extra.padding_id, *extra.padding);
  if (!alignment) {  // L11
    refuse(Code::zip_padding_alignment,
           concat("the padding record ", hex(extra.padding_id), " says alignment ",
                  base::load<std::uint16_t>(*extra.padding, 0), "; a power of two from ", alignment_minimum, " to ",
                  extra.padding_id == padding_extra_id ? alignment_maximum : alignment_extra_maximum, " is needed"));
  }
  return *alignment;
}

/// Checks the alignment that some writers repeat in the directory. Some readers look only there.
void check_repeated_alignment(const ExtraFields& extra, std::uint64_t alignment, const DirectoryEntry& entry,
                              const HeaderContext& refuse) {
  if (entry.alignment == 0) return;
  if (extra.padding_id == alignment_extra_id && alignment == entry.alignment) return;
  refuse(Code::zip_extra_alignment,  // L14
         concat("the directory says alignment ", entry.alignment, " in an extra field ", hex(alignment_extra_id),
                ", but the local header does not state it in such a field"));
}

/// Proves the padding and the alignment of the data. Returns that alignment.
std::uint64_t check_padding(const ExtraFields& extra, std::uint64_t data_offset, const DirectoryEntry& entry,
                            KnownZeros* known, const HeaderContext& refuse) {
  const std::uint64_t alignment = read_padding_alignment(extra, refuse);
  if (data_offset % alignment != 0) {  // L12
    refuse(Code::zip_padding_alignment, concat("the data at ", hex(data_offset), " is not aligned to ", alignment,
                                               " bytes", extra.padding ? " as the padding record says" : ""));
  }
  check_repeated_alignment(extra, alignment, entry, refuse);
  const Bytes zeros = extra.padding ? extra.padding->subspan(2) : Bytes();
  if (known != nullptr ? !known->are_zeros(zeros) : !all_zero(zeros)) {  // L10: padding must not hide data
    refuse(Code::zip_padding_record, "the padding is not all zero");
  }
  return alignment;
}

/// Reads the end of the superseded state whose bytes lie between `data_end` and `limit` (P5c). Nothing if they are not
/// the end of an archive, or if its directory begins before `data_end`, in the entry's data.
std::optional<EndOfArchive> end_of_superseded_tail(Bytes file, std::uint64_t data_end, std::uint64_t limit) {
  const Bytes state = file.first(base::in_memory(limit));
  // If no end record is there, read_end would search for others, to name them in an error.
  if (!parse_end_record(state.last(std::min<std::size_t>(state.size(), end_record_size)))) return std::nullopt;
  try {
    const EndOfArchive end = read_end(state);
    return end.directory_offset >= data_end ? std::optional(end) : std::nullopt;
  } catch (const Error&) {
    return std::nullopt;
  }
}

void check_data_end(const HeaderContext& refuse, std::uint64_t data_end, std::uint64_t limit, bool last) {
  if (data_end <= limit) return;
  // P3, P4: opening checked these with the smallest possible local header. Now the real offset of the data is known.
  refuse(last ? Code::zip_entry_bounds : Code::zip_entry_overlap,
         concat("the entry's data ends at ", hex(data_end), ", after ", hex(limit), " where the ",
                last ? "directory" : "next header", " begins"));
}

void check_rest(Bytes file, std::uint64_t data_end, std::uint64_t limit, Tail tail, std::string_view name) {
  if (data_end == limit) return;
  const HeaderContext refuse(name, data_end);
  const auto superseded = tail == Tail::forbidden ? std::nullopt : end_of_superseded_tail(file, data_end, limit);
  if (!superseded) {  // P5
    refuse(Code::zip_entry_gap, concat(limit - data_end, " bytes after the data belong to no entry"));
  }
  // P5: a reader that searches for a locator farther back than E5 allows finds the superseded one.
  if (superseded->zip64 && tail == Tail::without_zip64) {
    refuse(Code::zip_entry_gap,
           "an earlier state has zip64 end records, and the archive has none: some readers take those of the "
           "earlier state; an edit has to keep zip64 end records");
  }
}

}  // namespace

// The checks of both functions follow the order of spec/checking.md, steps 45 to 60.

bool KnownZeros::are_zeros(Bytes padding) {
  constexpr std::size_t short_padding = 256;  // comparing it costs less than finding what is known of it
  if (padding.size() <= short_padding) return all_zero(padding);
  Run& run = known_[reinterpret_cast<std::uintptr_t>(padding.data())];
  if (run.size == padding.size()) return run.is_zero;
  compared_ += padding.size();
  run = {padding.size(), all_zero(padding)};
  return run.is_zero;
}

LocalEntry read_local_header(Bytes room, const DirectoryEntry& entry, KnownZeros* zeros) {
  const HeaderContext refuse(entry.name, entry.header_offset);
  const LocalParts local = read_local_parts(room, refuse);  // L1
  check_length(local.length, refuse);
  check_local_name(local, refuse);  // L2
  check_same_fields(*local.header, entry, refuse);
  check_version(*local.header, refuse);
  const ExtraFields extra = read_extra_fields(local.extra, HeaderKind::local, refuse);
  const bool zip64 = check_sizes(*local.header, extra, entry, refuse);
  const std::uint64_t data_offset = entry.header_offset + local.length;  // cannot wrap: the header lies in the file
  const std::uint64_t alignment = check_padding(extra, data_offset, entry, zeros, refuse);
  return {data_offset, alignment, zip64 && !needs_zip64_local(entry.size)};
}

LocalEntry read_local_header(Bytes file, const DirectoryEntry& entry, std::uint64_t limit, Tail tail,
                             KnownZeros* zeros) {
  const LocalEntry local =
      read_local_header(base::section(file, entry.header_offset, limit - entry.header_offset), entry, zeros);
  const std::uint64_t data_end =
      local.data_offset + entry.size;  // cannot wrap: both were compared with the file's size
  check_data_end({entry.name, entry.header_offset}, data_end, limit, tail == Tail::forbidden);
  check_rest(file, data_end, limit, tail, entry.name);
  return local;
}

}  // namespace onnxar::zip
