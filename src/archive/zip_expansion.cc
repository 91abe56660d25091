// Counts the bytes that the entries of a foreign zip expand to, and refuses more than a multiple of the file.
#include "archive/zip_expansion.h"

#include <string>

#include "base/text.h"

namespace onnxar {

void ZipExpansion::add(const zip::ForeignEntry& entry) {
  if (budget_.add(entry.size)) return;
  // The sum does not wrap: sizes are at most a thousand times the stored ones, and entries do not overlap.
  refuse(budget_.made() + entry.size, {std::string(entry.name), entry.central_offset});
}

void ZipExpansion::check(std::uint64_t bytes) const {
  if (!budget_.allows(bytes)) refuse(bytes, {});
}

void ZipExpansion::refuse(std::uint64_t bytes, const Place& place) const {
  const std::uint64_t needed = (bytes - 1) / budget_.input() + 1;
  throw Error(Code::zip_limit_expansion,  // F35
              base::concat("a zip file of ", base::human_size(budget_.input()), " would expand to ",
                           base::human_size(bytes), " or more, and the limit is ", budget_.times(), " times the file"),
              place, {}, {Hint::max_expansion_of, std::to_string(needed)});
}

}  // namespace onnxar
