// Reads the zip64 field of a directory header, and compares it with the header.
#include "zip/wide_fields.h"

#include <algorithm>
#include <array>
#include <cstddef>

#include "base/little_endian.h"

namespace onnxar::zip {
namespace {

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
