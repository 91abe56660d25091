// UTF-8, strictly: no overlong forms, no surrogates, nothing above U+10FFFF (Unicode 15, table 3-7).
#pragma once

#include <cstddef>
#include <string_view>

namespace onnxar::base {

/// The length (1 to 4) of the well-formed sequence that `text` begins with; 0 if there is none.
std::size_t utf8_sequence_length(std::string_view text) noexcept;

bool is_utf8(std::string_view text) noexcept;
bool is_ascii(std::string_view text) noexcept;

}  // namespace onnxar::base
