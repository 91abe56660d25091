#include "archive/zip_expansion.h"

#include <limits>
#include <string>

#include "base/checked.h"
#include "base/text.h"
#include "onnxar/error.h"

namespace onnxar {

void ZipExpansion::add(const zip::ForeignEntry& entry) {
  // Sizes are at most a thousand times what is stored, and no stored byte is in two entries: no sum wraps.
  bytes_ += entry.size;
  check(bytes_, {std::string(entry.name), entry.central_offset});
}

std::uint64_t ZipExpansion::most() const noexcept {
  return base::checked_multiply(input_bytes_, times_).value_or(std::numeric_limits<std::uint64_t>::max());
}

void ZipExpansion::check(std::uint64_t bytes, const Place& place) const {
  if (bytes <= most()) return;
  const std::uint64_t needed = (bytes - 1) / input_bytes_ + 1;
  throw Error(Code::zip_limit_expansion,
              base::concat(base::human_size(bytes), " or more would be made of a zip file of ",
                           base::human_size(input_bytes_), ", and the limit is ", times_, " times the file"),
              place, {}, {Hint::max_expansion_of, std::to_string(needed)});
}

}  // namespace onnxar
