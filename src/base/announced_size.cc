#include "base/announced_size.h"

#include "base/checked.h"
#include "base/text.h"

namespace onnxar::base {

std::uint64_t add_announced(std::uint64_t total, std::uint64_t size, const Place& place, std::uint64_t limit) {
  const auto sum = checked_add(total, size);
  if (sum && *sum <= limit) return *sum;
  throw Error(Code::usage_argument, concat("the data would be over the limit of ", human_size(limit)), place);
}

}  // namespace onnxar::base
