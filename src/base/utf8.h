// Decodes strict UTF-8: no overlong forms, no surrogates, no code points above U+10FFFF (Unicode 15, table 3-7).
#pragma once

#include <cstddef>
#include <string_view>

namespace onnxar::base {

/// Returns the length (1 to 4) of the well-formed sequence at the front of `text`; 0 if it does not begin with one.
std::size_t utf8_sequence_length(std::string_view text) noexcept;

/// Returns the code point at the front of `text`; 0 if the sequence is not well-formed.
char32_t utf8_code_point(std::string_view text) noexcept;

/// Returns the first `most` bytes, or up to 3 fewer so that no character is cut.
std::string_view utf8_prefix(std::string_view text, std::size_t most) noexcept;

/// True if `text` begins with a control character: U+0000 to U+001F, U+007F to U+009F. The last 32 of them take two
/// bytes in UTF-8; some terminals obey them too.
bool begins_with_control(std::string_view text) noexcept;

bool is_utf8(std::string_view text) noexcept;

}  // namespace onnxar::base
