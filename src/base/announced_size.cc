#include "base/announced_size.h"

#include "base/checked.h"
#include "base/text.h"

namespace onnxar::base {

std::uint64_t add_announced(std::uint64_t total, std::uint64_t size, const Place& place) {
  const auto sum = checked_add(total, size);
  if (sum && *sum <= largest_planned) return *sum;
  throw Error(Code::usage_argument, concat("the data would be over the limit of ", human_size(largest_planned)), place);
}

}  // namespace onnxar::base
