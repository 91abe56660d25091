#include "archive/accepted_crcs.h"

#include <string_view>

#include "base/crc32.h"
#include "base/text.h"
#include "onnxar/error.h"

namespace onnxar {
namespace {

using base::concat;

std::uint32_t crc_of(Bytes file, const zip::ForeignEntry& entry) {
  std::uint32_t crc = 0;
  zip::data_source(file, entry)->read([&crc](Bytes piece) { crc = base::crc32(crc, piece); });
  return crc;
}

}  // namespace

AcceptedCrcs::AcceptedCrcs(Bytes file, const zip::ForeignDirectory& directory, std::span<const std::string> names,
                           RepackReport& report) {
  std::set<std::string_view> seen;
  for (const std::string& name : names) {
    if (!seen.insert(name).second) continue;  // the caller named the entry twice
    const auto index = directory.find(name);
    if (!index) {
      throw Error(Code::usage_no_such_entry,
                  concat("no entry is named ", base::quoted(name), ", so it has no CRC-32 to accept"));
    }
    const zip::ForeignEntry& entry = directory.entries()[*index];
    const std::uint32_t crc = crc_of(file, entry);
    const Place place{name, entry.data_offset};
    // F37: an unnecessary exception is refused, so that scripts do not carry it on and hide later damage.
    if (crc == entry.crc32) {
      throw Error(Code::usage_argument, "the CRC-32 of this entry is already right", place, {},
                  {Hint::not_as_accepted});
    }
    true_crcs_.emplace(entry.header_offset, crc);
    report.remarks.push_back({Severity::warning, Code::zip_data_crc, place,
                              concat("accepted: the data has CRC-32 ", base::hex(crc),
                                     ", which the output states; the input states ", base::hex(entry.crc32))});
  }
}

bool AcceptedCrcs::accepts(const zip::ForeignEntry& entry, std::uint32_t crc) const {
  return true_crcs_.contains({entry.header_offset, crc});
}

}  // namespace onnxar
