#include "archive/model_size.h"

#include "base/text.h"

namespace onnxar {

std::string oversize_text(std::string_view subject_and_verb, std::uint64_t size) {
  return base::concat(subject_and_verb, " ", base::human_size(size), ", and protobuf reads less than 2 GiB");
}

}  // namespace onnxar
