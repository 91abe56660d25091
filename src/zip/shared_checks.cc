// Checks headers, names and sizes of entries for strict archives and foreign zips.
#include "zip/shared_checks.h"

#include <utility>

#include "base/text.h"
#include "zip/format.h"
#include "zip/records.h"

namespace onnxar::zip {

Error crc_fault(Place place, std::string_view who, std::uint32_t stated, std::uint32_t actual) {
  return {Code::zip_data_crc,  // T1, F34
          base::concat("the data has CRC-32 ", base::hex(actual), ", ", who, " says ", base::hex(stated),
                       ": it was damaged; fetch the file again"),
          std::move(place)};
}

std::string known_versions() { return base::concat(version_plain, " to ", version_zip64); }

void refuse_directory_header(bool is_cut, std::uint64_t offset) {  // D1, F27
  throw Error(Code::zip_directory_header,
              is_cut ? "a directory header runs past the end of the directory" : "a directory header was expected here",
              {"", offset});
}

void check_directory_end(Bytes rest, std::uint64_t count, std::uint64_t offset) {
  if (rest.empty()) return;
  // E10, F27: the directory holds more headers than the end record counts. Fewer headers were refused as D1 before.
  throw Error(Code::zip_directory_count,
              base::concat("the end record counts ", count, " entries, but the directory goes on after them"),
              {"", offset});
}

void check_disk(std::uint32_t disk_number_start, const HeaderContext& refuse) {
  if (disk_number_start != 0) refuse(Code::zip_entry_disk, "the header places the entry on another disk");  // D7, F33
}

void check_stored_sizes(std::uint64_t size, std::uint64_t compressed_size, const HeaderContext& refuse) {
  if (size == compressed_size) return;
  refuse(Code::zip_entry_sizes, "the entry is stored, but its two sizes differ");  // D14, F26
}

LocalParts read_local_parts(Bytes room, const HeaderContext& refuse) {
  LocalParts local{parse_local_file_header(room)};
  if (!local.header) refuse(Code::zip_local_header, "no local file header where the directory points");  // L1, F27
  // A sum of a constant and two 16-bit lengths cannot wrap.
  local.length = local_file_header_size + local.header->file_name_length + local.header->extra_field_length;
  if (local.length > room.size()) {  // L1, F27
    refuse(Code::zip_local_header, "the local file header runs into the next entry or the directory");
  }
  local.name = as_text(room.subspan(local_file_header_size, local.header->file_name_length));
  local.extra = room.subspan(local_file_header_size + local.name.size(), local.header->extra_field_length);
  return local;
}

void check_local_name(const LocalParts& local, const HeaderContext& refuse) {
  if (local.name == refuse.name()) return;
  // L2, F15: some readers show the directory's name, but extract under the local one.
  refuse(Code::zip_local_name, base::concat("the local header has a different name: ", base::quoted(local.name)));
}

void refuse_missing_local_zip64(const HeaderContext& refuse) {  // L7, F18
  refuse(Code::zip_zip64_extra, "the sizes are in a zip64 field that is missing from the local header");
}

}  // namespace onnxar::zip
