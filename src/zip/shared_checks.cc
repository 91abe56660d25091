// Checks what strict archives and foreign zips share: local parts, extra fields and data.
#include "zip/shared_checks.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/little_endian.h"
#include "base/text.h"
#include "zip/format.h"
#include "zip/layout.h"
#include "zip/records.h"

namespace onnxar::zip {
namespace {

bool is_padding(std::uint16_t id) noexcept { return id == padding_extra_id || id == alignment_extra_id; }

/// Allows only fields that cannot change an entry's meaning. Readers that know other fields could take a different name
/// or kind of file from them.
void check_id(std::uint16_t id, HeaderKind kind, const HeaderContext& refuse) {
  if (id != zip64_extra_id && !is_padding(id)) {  // D11, L5
    refuse(Code::zip_extra_unknown,
           base::concat("extra field ", base::hex(id), " is not allowed (only zip64 and padding are)"));
  }
  if (id == padding_extra_id && kind == HeaderKind::directory) {  // D11
    refuse(Code::zip_extra_unknown,
           base::concat("the padding record ", base::hex(padding_extra_id), " belongs in the local header only"));
  }
}

constexpr std::size_t value_size = zip64_value_size;
constexpr std::size_t all_values_size = 3 * value_size;
constexpr std::size_t disk_number_size = sizeof(std::uint32_t);

/// True if a field of `size` bytes holds values in addition to those that the header's sentinels refer to (F7). Go's
/// archive/zip wrote all three values and the disk number up to version 1.26.
bool gives_all_values(std::size_t size, std::size_t sentinels, Rules rules) {
  if (size == all_values_size || size == all_values_size + disk_number_size) return true;
  return rules == Rules::foreign && size % value_size == 0 && size < all_values_size && size > sentinels * value_size;
}

}  // namespace

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

ExtraField take_extra_field(Bytes& extra, const HeaderContext& refuse) {
  // D10, L4, F30: the size is compared with the bytes that remain. Adding it to a position could wrap. It is loaded
  // once: mapped bytes may change between the comparison and the use.
  const std::size_t size = extra.size() < extra_header_size ? 0 : base::load<std::uint16_t>(extra, 2);
  if (extra.size() < extra_header_size || extra.size() - extra_header_size < size) {
    refuse(Code::zip_extra_malformed, "an extra field runs past the end of the header");
  }
  const ExtraField field{base::load<std::uint16_t>(extra, 0), extra.subspan(extra_header_size, size)};
  extra = extra.subspan(extra_header_size + size);
  return field;
}

ExtraFields read_extra_fields(Bytes extra, HeaderKind kind, const HeaderContext& refuse) {
  ExtraFields found;
  while (!extra.empty()) {
    const auto [id, payload] = take_extra_field(extra, refuse);
    check_id(id, kind, refuse);
    std::optional<Bytes>& field = id == zip64_extra_id ? found.zip64 : found.padding;
    if (field) {  // D12, L6: some readers take the first field, others the last
      refuse(Code::zip_extra_duplicate, is_padding(id) ? "two records state an alignment in one header"
                                                       : "an extra field appears twice in one header");
    }
    field = payload;
    if (is_padding(id)) found.padding_id = id;
  }
  return found;
}

std::optional<std::uint64_t> recorded_alignment(std::uint16_t padding_id, Bytes padding) noexcept {
  const std::uint64_t alignment = base::load<std::uint16_t>(padding, 0);
  const std::uint64_t most = padding_id == alignment_extra_id ? alignment_extra_maximum : alignment_maximum;
  if (!is_valid_alignment(alignment) || alignment > most) return std::nullopt;
  return alignment;
}

WideFields read_zip64_fields(const CentralFileHeader& header, std::optional<Bytes> zip64, Rules rules,
                             const HeaderContext& refuse) {
  const std::array<std::uint32_t, 3> narrow = {header.uncompressed_size, header.compressed_size,
                                               header.relative_offset_of_local_header};
  std::array<std::uint64_t, 3> wide = {narrow[0], narrow[1], narrow[2]};
  const auto sentinels = static_cast<std::size_t>(std::ranges::count(narrow, sentinel32));
  Bytes field = zip64.value_or(Bytes());
  const bool more = gives_all_values(field.size(), sentinels, rules);
  // D13, F18: some readers assign the values to the sentinels one by one, as APPNOTE describes, others by position.
  // Both find the same values only if the sentinels come first.
  const bool in_step = std::ranges::is_partitioned(narrow, [](std::uint32_t value) { return value == sentinel32; });
  if (more ? !in_step : field.size() != sentinels * value_size) {
    refuse(Code::zip_zip64_extra, "the zip64 field does not match the values that are 0xFFFFFFFF in the header");
  }
  bool needed = false;
  for (std::size_t i = 0; i < narrow.size(); ++i) {
    if (more ? field.size() < value_size : narrow.at(i) != sentinel32) continue;
    wide.at(i) = base::load<std::uint64_t>(field, 0);
    field = field.subspan(value_size);
    needed = needed || wide.at(i) >= sentinel32;
    if (narrow.at(i) != sentinel32 && wide.at(i) != narrow.at(i)) {  // D13, F18
      refuse(Code::zip_zip64_extra, "the zip64 field contradicts the header");
    }
  }
  if (!field.empty()) check_disk(base::load<std::uint32_t>(field, 0), refuse);  // D7
  return {wide[0], wide[1], wide[2], needed};
}

}  // namespace onnxar::zip
