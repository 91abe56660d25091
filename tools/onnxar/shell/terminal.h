// Colour and width of text for terminals. Text for pipes and files has no colour and any width.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "onnxar/error.h"
#include "os/terminal.h"

namespace onnxar::tool {

enum class Style : std::uint8_t { bold, red, yellow, cyan };

/// Returns `text` in the style if the stream is a terminal that has colours and NO_COLOR (no-color.org) is not set.
std::string styled(os::Stream stream, Style style, std::string_view text);

/// Returns a line such as `error[zip.data.crc] ...` with its first word in the colour of its severity.
std::string with_coloured_severity(os::Stream stream, Severity severity, const std::string& line);

/// Returns the displayed width of a name: one column per code point, which is correct for most scripts.
std::size_t width_of(std::string_view text);

/// Returns `text` with its middle replaced by `...` if it is wider than `width`: names of tensors differ at their ends.
std::string shortened(const std::string& text, std::size_t width);

/// Returns lines of at most `width` columns, broken at spaces; a longer word has a line of its own. 0: one line.
std::vector<std::string> wrapped(const std::string& text, std::size_t width);

/// True if the bytes may be printed on a terminal: text without control characters except white space.
bool is_printable(std::string_view text);

}  // namespace onnxar::tool
