// Writes the message about a range that leaves its bytes.
#include "base/byte_range.h"

#include "base/text.h"

namespace onnxar::base {

std::string range_fault(std::uint64_t offset, std::optional<std::uint64_t> length, std::string_view whole,
                        std::uint64_t size) {
  const std::string range =
      length ? concat("offset ", offset, " and length ", *length, " leave ") : concat("offset ", offset, " leaves ");
  return concat(range, whole, " of ", size, " bytes");
}

}  // namespace onnxar::base
