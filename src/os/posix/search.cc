#include "os/search.h"

#include <cstring>

namespace onnxar::os {

bool contains(std::string_view text, std::string_view wanted) noexcept {
  return ::memmem(text.data(), text.size(), wanted.data(), wanted.size()) != nullptr;
}

}  // namespace onnxar::os
