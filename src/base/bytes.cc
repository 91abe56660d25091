// Reads spans as sources, and distinguishes addresses from paths.
#include "onnxar/bytes.h"

#include <algorithm>
#include <array>
#include <cstdio>

#include "base/sources.h"
#include "base/text.h"

namespace onnxar {

void SpanSource::read(const ByteSink& sink) const {
  base::check_sink(sink);
  sink(bytes_);
}

bool is_address(std::string_view text) noexcept {
  using namespace std::string_view_literals;
  return std::ranges::any_of(std::array{"http://"sv, "https://"sv, "s3://"sv}, [&](std::string_view scheme) {
    return std::ranges::equal(text.substr(0, scheme.size()), scheme, {}, base::folded);
  });
}

}  // namespace onnxar
