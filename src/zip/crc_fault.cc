#include "zip/crc_fault.h"

#include <utility>

#include "base/crc32.h"
#include "base/text.h"

namespace onnxar::zip {

Error crc_fault(Place place, std::string_view who, std::uint32_t stated, std::uint32_t actual, Bytes data) {
  const std::string differs =
      base::concat("the data has CRC-32 ", base::hex(actual), ", ", who, " says ", base::hex(stated));
  const auto start = data.empty() ? std::nullopt : base::find_start_of_crc32(data, stated);
  if (!start) {  // T1, F34: no suffix of the data has the stated sum, so the data itself is wrong
    return {Code::zip_data_crc, differs + ": it was damaged; fetch the file again", std::move(place)};
  }
  return {Code::zip_data_crc,
          base::concat(differs, ", which is the CRC-32 of its last ", data.size() - *start,
                       " bytes alone: early writers without ISA-L restarted the sum after an empty piece, and in that "
                       "case the data is right"),
          place,
          {},
          {Hint::repack_accept_crc, base::quoted(place.entry)}};
}

}  // namespace onnxar::zip
