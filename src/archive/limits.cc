#include "archive/limits.h"

#include "base/text.h"
#include "zip/layout.h"

namespace onnxar {

void check_archive_alignment(std::uint64_t alignment) {
  if (zip::is_valid_alignment(alignment)) return;
  throw Error(Code::usage_argument,
              base::concat("alignment ", alignment, " is not possible; it must be a power of two from 64 to 32768"));
}

void check_model_size(std::uint64_t size, const Place& place) {
  constexpr std::uint64_t model_maximum = (1ULL << 31U) - 1;  // protobuf parses no longer message
  if (size <= model_maximum) return;
  throw Error(Code::archive_model_too_large,
              base::concat("the model alone is ", base::human_size(size),
                           ", and protobuf reads less than 2 GiB: move more tensors out of it"),
              place);
}

}  // namespace onnxar
