#include <algorithm>
#include <array>

#include "base/text.h"
#include "onnxar/random_access.h"

namespace onnxar {

bool is_address(std::string_view text) noexcept {
  using namespace std::string_view_literals;
  return std::ranges::any_of(std::array{"http://"sv, "https://"sv, "s3://"sv}, [&](std::string_view scheme) {
    return std::ranges::equal(text.substr(0, scheme.size()), scheme, {}, base::folded);
  });
}

}  // namespace onnxar
