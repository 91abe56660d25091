#include "zip/crc_fault.h"

#include <utility>

#include "base/text.h"

namespace onnxar::zip {

Error crc_fault(Place place, std::string_view who, std::uint32_t stated, std::uint32_t actual) {
  return {Code::zip_data_crc,  // T1, F34
          base::concat("the data has CRC-32 ", base::hex(actual), ", ", who, " says ", base::hex(stated),
                       ": it was damaged; fetch the file again"),
          std::move(place)};
}

}  // namespace onnxar::zip
