// Reads the end records of a zip file.
#include "zip/end_records.h"

#include <optional>
#include <string>

#include "base/byte_range.h"
#include "base/checked.h"
#include "base/little_endian.h"
#include "base/text.h"
#include "onnxar/error.h"
#include "zip/format.h"
#include "zip/records.h"
#include "zip/shared_checks.h"

namespace onnxar::zip {
namespace {

using base::concat;
using base::hex;

/// Returns the lowest offset at which an end record can begin, if its comment ends with the file.
std::uint64_t first_place_of_end_record(Bytes file) {
  constexpr std::uint64_t farthest = end_record_size + comment_maximum;
  return file.size() > farthest ? file.size() - farthest : 0;
}

/// An end record and its offset. It is parsed once: mapped bytes may change.
struct PlacedEnd {
  std::uint64_t at;
  EndRecord record;
};

/// Returns the last end record before the last 22 bytes. It is used for the error message only: archives are never read
/// from it.
std::optional<PlacedEnd> find_stray_end_record(Bytes file) {
  const std::uint64_t stop = first_place_of_end_record(file);
  for (std::uint64_t at = file.size() - end_record_size; at-- > stop;) {
    if (const auto end = parse_end_record(base::section(file, at))) return PlacedEnd{at, *end};
  }
  return std::nullopt;
}

[[noreturn]] void refuse_comment(std::uint64_t at) {  // E3
  throw Error(Code::zip_end_comment, "the zip file has an archive comment, which is not allowed", {"", at});
}

[[noreturn]] void refuse_without_end_record(Bytes file) {
  const auto stray = find_stray_end_record(file);
  if (!stray) {  // E1, F27
    throw Error(Code::zip_end_missing,
                begins_with_record(file)
                    ? "this zip file was cut short: it begins as one, but has no end record; fetch the file again"
                    : "no zip end record in the last 22 bytes: this is not a zip file, or its end is missing (a "
                      "download or copy cut short)",
                {"", file.size()});
  }
  const std::uint64_t after = file.size() - stray->at - end_record_size;
  if (stray->record.comment_length == after) refuse_comment(stray->at);
  throw Error(Code::zip_end_not_last,  // E2
              concat("the zip end record is not the last thing in the file: ", after,
                     " more bytes follow it; cut them off or fetch the file again"),
              {"", stray->at});
}

void check_length(Bytes file) {
  if (file.size() >= end_record_size) return;
  throw Error(Code::zip_end_missing,  // E1
              file.empty() ? "the file is empty"
              : begins_with_record(file)
                  ? concat("this zip file was cut short: only its first ", file.size(), " bytes are left")
                  : concat("a file of ", file.size(), " bytes is too short for an archive"),
              {"", file.size()});
}

EndRecord read_end_record(Bytes file) {
  check_length(file);
  const std::uint64_t at = file.size() - end_record_size;
  const auto end = parse_end_record(base::section(file, at));
  if (!end) refuse_without_end_record(file);         // E1, E2, E3
  if (end->comment_length != 0) refuse_comment(at);  // E3; F2 allows one in a foreign zip
  return *end;
}

std::optional<Zip64Locator> read_locator(Bytes file) {
  if (file.size() < end_record_size + zip64_locator_size) return std::nullopt;
  return parse_zip64_locator(base::section(file, file.size() - end_record_size - zip64_locator_size));
}

/// F4: foreign zips may state any version up to 45, because the version does not change the record's form. Records of
/// later versions may have a different form.
bool is_readable_version(std::uint16_t version, Rules rules) {
  return is_known_version(version) || (rules == Rules::foreign && version < version_plain);
}

std::string readable_versions(Rules rules) {
  return rules == Rules::archive ? known_versions() : concat("up to ", version_zip64);
}

Zip64EndRecord read_zip64_record(Bytes file, const Zip64Locator& locator, Rules rules) {
  const std::uint64_t locator_at = file.size() - end_record_size - zip64_locator_size;
  if (locator.disk_with_end_record != 0 || locator.number_of_disks != 1) {  // E4, F33
    throw Error(Code::zip_end_multi_disk, "the zip64 locator refers to several disks", {"", locator_at});
  }
  // E5: the offset comes from the file, so it is compared before any byte is read there. The first comparison keeps the
  // subtraction from wrapping.
  if (locator_at < zip64_end_record_size || locator.offset_of_end_record != locator_at - zip64_end_record_size) {
    throw Error(Code::zip_zip64_locator,
                concat("the zip64 locator points to ", hex(locator.offset_of_end_record), ", not to the ",
                       zip64_end_record_size, " bytes before itself"),
                {"", locator_at});
  }
  const Place place{"", locator.offset_of_end_record};
  const auto record = parse_zip64_end_record(base::section(file, locator.offset_of_end_record));
  if (!record) throw Error(Code::zip_zip64_record, "no zip64 end record where the locator points", place);  // E6
  if (record->size_of_record != Zip64EndRecord().size_of_record ||
      !is_readable_version(record->version_needed, rules)) {
    throw Error(Code::zip_zip64_record,  // E6
                concat("the zip64 end record is not of the plain form (size ", Zip64EndRecord().size_of_record,
                       ", version ", readable_versions(rules), ")"),
                place);
  }
  if (record->number_of_this_disk != 0 || record->disk_with_directory != 0 ||
      record->entries_on_this_disk != record->entries) {  // E4, F33
    throw Error(Code::zip_end_multi_disk, "the zip64 end record refers to several disks", place);
  }
  return *record;
}

bool agrees(std::uint64_t narrow, std::uint64_t sentinel, std::uint64_t wide) {
  return narrow == sentinel || narrow == wide;
}

EndOfArchive join(const EndRecord& end, const Zip64EndRecord& wide, std::uint64_t at) {
  if (!agrees(end.entries, sentinel16, wide.entries) || !agrees(end.directory_size, sentinel32, wide.directory_size) ||
      !agrees(end.directory_offset, sentinel32, wide.directory_offset)) {  // E7
    throw Error(Code::zip_zip64_disagree, "the end record and the zip64 end record contradict each other", {"", at});
  }
  const bool needed =
      wide.entries >= sentinel16 || wide.directory_size >= sentinel32 || wide.directory_offset >= sentinel32;
  return {wide.entries, wide.directory_offset, wide.directory_size, true, !needed};
}

/// Returns the end of a file without a zip64 locator. In a foreign zip (F7), 0xFFFF then is the number of entries and
/// not a sentinel.
EndOfArchive plain(const EndRecord& end, std::uint64_t at, Rules rules) {
  const bool count_is_sentinel = rules == Rules::archive && end.entries == sentinel16;
  if (count_is_sentinel || end.directory_size == sentinel32 || end.directory_offset == sentinel32) {  // E5
    throw Error(Code::zip_zip64_locator, "the end record refers to a zip64 record, but there is no locator before it",
                {"", at});
  }
  return {end.entries, end.directory_offset, end.directory_size};
}

/// Checks the records that precede `end`, in the order of spec/checking.md, steps 3 to 10. REQUIRES: `file` ends with
/// the 22 bytes of `end`, without its comment.
EndOfArchive read_before(Bytes file, const EndRecord& end, Rules rules) {
  const std::uint64_t at = file.size() - end_record_size;
  if (end.number_of_this_disk != 0 || end.disk_with_directory != 0) {  // E4, F33
    throw Error(Code::zip_end_multi_disk, "the end record refers to several disks", {"", at});
  }
  if (end.entries_on_this_disk != end.entries) {  // E4, F33
    throw Error(Code::zip_end_multi_disk,
                concat("the end record counts ", end.entries_on_this_disk, " entries on this disk and ", end.entries,
                       " in all; only a zip file on one disk is read"),
                {"", at});
  }
  const auto locator = read_locator(file);
  const EndOfArchive found = locator ? join(end, read_zip64_record(file, *locator, rules), at) : plain(end, at, rules);
  const std::uint64_t records_begin = locator ? locator->offset_of_end_record : at;
  // E8, F12: the sum must be equal, not only within bounds, so that no unaccounted bytes lie between directory and end
  // records: only some readers would see them.
  if (base::checked_add(found.directory_offset, found.directory_size) != records_begin) {
    throw Error(Code::zip_end_directory_bounds,
                concat("the end record states a directory of ", found.directory_size, " bytes at ",
                       hex(found.directory_offset), ", which does not end at ", hex(records_begin),
                       ", where the end records begin: bytes were inserted or removed before them"),
                {"", at});
  }
  return found;
}

/// Returns all end records whose comments end with the file, from the last to the first.
std::vector<PlacedEnd> find_end_records(Bytes file) {
  const std::uint64_t stop = first_place_of_end_record(file);
  std::vector<PlacedEnd> found;
  for (std::uint64_t at = file.size() - end_record_size + 1; at-- > stop;) {
    const auto end = parse_end_record(base::section(file, at));
    if (end && end->comment_length == file.size() - at - end_record_size) found.push_back({at, *end});
  }
  return found;
}

/// Refuses a signature of an end record after the one at `at`. Some readers use the last signature in the file, even if
/// the length of the comment does not match.
void refuse_signature_after(Bytes file, std::uint64_t at) {
  if (at + end_record_size == file.size()) return;  // an end record does not fit in fewer than 22 bytes
  for (std::uint64_t later = at + 1; later + sizeof end_signature <= file.size(); ++later) {
    if (base::load<std::uint32_t>(file, later) != end_signature) continue;
    throw Error(Code::zip_end_ambiguous,  // F9
                "the archive comment contains the signature of an end record, and some readers take it for the end of "
                "the zip file; write the zip again without an archive comment",
                {"", later});
  }
}

/// Refuses a file that ends with an end record whose comment is missing.
void refuse_cut_comment(Bytes file) {
  const std::uint64_t at = file.size() - end_record_size;
  const auto end = parse_end_record(base::section(file, at));
  if (!end) return;
  throw Error(Code::zip_end_comment,  // E3, F27
              concat("the end record announces a comment of ", end->comment_length,
                     " bytes, but nothing follows: the file was cut short"),
              {"", at});
}

}  // namespace

EndOfArchive read_end(Bytes file) { return read_before(file, read_end_record(file), Rules::archive); }

bool has_end_record(Bytes file) { return file.size() >= end_record_size && !find_end_records(file).empty(); }

EndOfZip find_end(Bytes file) {
  check_length(file);
  const std::vector<PlacedEnd> found = find_end_records(file);
  if (found.empty()) {
    refuse_cut_comment(file);
    refuse_without_end_record(file);
  }
  const auto [at, end] = found.front();
  refuse_signature_after(file, at);
  EndOfZip zip{read_before(file.first(base::in_memory(at + end_record_size)), end, Rules::foreign), {}};
  for (std::size_t i = 1; i < found.size(); ++i) zip.rivals.push_back(found[i].at);
  return zip;
}

void check_limits(const EndOfArchive& end, const Limits& limits) {
  const Place place{"", end.directory_offset};
  if (end.entries == 0) {  // E9
    throw Error(Code::zip_directory_empty, "the zip file is empty: it has no entries", place);
  }
  if (end.entries >
      end.directory_size / central_file_header_size) {  // E10: checked before memory is allocated for that many entries
    throw Error(Code::zip_directory_count,
                concat(end.entries, " entries cannot fit into a directory of ", end.directory_size, " bytes"), place);
  }
  expect_within(limits, end.entries, end.directory_size, place);
}

}  // namespace onnxar::zip
