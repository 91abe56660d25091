#include "os/search.h"

namespace onnxar::os {

bool contains(std::string_view text, std::string_view wanted) noexcept {
  return text.find(wanted) != std::string_view::npos;
}

}  // namespace onnxar::os
