// Makes spans, reads them as sources, and distinguishes addresses from paths.
#include "onnxar/bytes.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdio>

#include "base/sources.h"
#include "base/text.h"

namespace onnxar {

std::size_t alignment_of(Bytes bytes) noexcept {
  constexpr std::uintptr_t page = 4096;
  if (bytes.empty()) return page;
  return std::size_t{1} << static_cast<unsigned>(
             std::countr_zero(reinterpret_cast<std::uintptr_t>(bytes.data()) | page));
}

ByteSpan ByteSpan::own(std::vector<std::byte> buffer) {
  ByteSpan span;
  span.buffer_ = std::move(buffer);
  span.owned_ = true;
  return span;
}

ByteSpan ByteSpan::borrow(Bytes bytes, std::shared_ptr<const void> owner) {
  ByteSpan span;
  span.view_ = bytes;
  span.owner_ = std::move(owner);
  return span;
}

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
