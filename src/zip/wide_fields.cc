#include "zip/wide_fields.h"

#include <algorithm>
#include <array>
#include <string>

#include "base/little_endian.h"
#include "onnxar/error.h"

namespace onnxar::zip {

WideFields read_wide_fields(const CentralFileHeader& header, std::optional<Bytes> zip64, std::string_view name,
                            std::uint64_t offset, Rules rules) {
  const auto refuse = [&](Code code, const char* message) { throw Error(code, message, {std::string(name), offset}); };
  const std::array<std::uint32_t, 3> narrow = {header.uncompressed_size, header.compressed_size,
                                               header.relative_offset_of_local_header};
  std::array<std::uint64_t, 3> wide = {narrow[0], narrow[1], narrow[2]};
  // Nearly every header; what follows is for the others.
  if (!zip64 && std::ranges::max(narrow) != sentinel32) return {wide[0], wide[1], wide[2], false};
  const auto sentinels = static_cast<std::size_t>(std::ranges::count(narrow, sentinel32));
  Bytes field = zip64.value_or(Bytes());
  const bool complete = field.size() == 24 || field.size() == 28;
  const bool more = complete || (rules == Rules::any_zip && field.size() % 8 == 0 && field.size() < 24 &&
                                 field.size() > sentinels * 8);  // than is asked for
  // A reader that takes the values one by one, as APPNOTE has it, must find the same ones.
  const bool in_step = std::ranges::is_partitioned(narrow, [](std::uint32_t value) { return value == sentinel32; });
  if (more ? !in_step : field.size() != sentinels * 8) {
    refuse(Code::zip_zip64_extra, "the zip64 field does not hold just the values that the header sends there");
  }
  bool needed = false;
  for (std::size_t i = 0; i < narrow.size(); ++i) {
    if (more ? field.size() < 8 : narrow.at(i) != sentinel32) continue;
    wide.at(i) = base::load<std::uint64_t>(field, 0);
    field = field.subspan(8);
    needed = needed || wide.at(i) >= sentinel32;
    if (narrow.at(i) != sentinel32 && wide.at(i) != narrow.at(i)) {
      refuse(Code::zip_zip64_extra, "the zip64 field contradicts the header");
    }
  }
  if (!field.empty() && base::load<std::uint32_t>(field, 0) != 0) {
    refuse(Code::zip_entry_disk, "the entry is said to lie on another disk");
  }
  return {wide[0], wide[1], wide[2], needed};
}

}  // namespace onnxar::zip
