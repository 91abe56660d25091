// Colours and wraps text for terminals.
#include "shell/terminal.h"

#include <algorithm>
#include <array>
#include <cstdlib>

#include "shell/paths.h"

namespace onnxar::tool {
namespace {

bool is_code_point_start(char c) { return (static_cast<unsigned char>(c) & 0xc0U) != 0x80; }

std::string_view environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::string_view() : std::string_view(value);
}

bool has_colours(os::Stream stream) {
  return os::is_terminal(stream) && environment("NO_COLOR").empty() && environment("TERM") != "dumb";
}

std::string_view code_of(Style style) {
  constexpr std::array<std::string_view, 4> codes = {"1", "31;1", "33;1", "36"};
  return codes.at(static_cast<std::size_t>(style));
}

Style style_of(Severity severity) {
  switch (severity) {
    case Severity::error: return Style::red;
    case Severity::warning: return Style::yellow;
    case Severity::note: return Style::cyan;
  }
  return Style::bold;
}

/// Returns the position after the first `columns` code points.
std::size_t position_after(std::string_view text, std::size_t columns) {
  std::size_t at = 0;
  for (; at < text.size(); ++at) {
    if (is_code_point_start(text[at]) && columns-- == 0) break;
  }
  return at;
}

}  // namespace

std::string styled(os::Stream stream, Style style, std::string_view text) {
  if (!has_colours(stream)) return std::string(text);
  return "\x1b[" + std::string(code_of(style)) + "m" + std::string(text) + "\x1b[0m";
}

std::string with_coloured_severity(os::Stream stream, Severity severity, const std::string& line) {
  const std::size_t end = std::min(line.find(' '), line.size());
  return styled(stream, style_of(severity), std::string_view(line).substr(0, end)) + line.substr(end);
}

std::size_t width_of(std::string_view text) {
  return static_cast<std::size_t>(std::ranges::count_if(text, is_code_point_start));
}

std::string shortened(const std::string& text, std::size_t width) {
  constexpr std::string_view dots = "...";
  const std::size_t whole = width_of(text);
  if (whole <= width || width <= dots.size()) return text;
  const std::size_t kept = width - dots.size();
  const std::size_t front = kept / 2;
  return text.substr(0, position_after(text, front)) + std::string(dots) +
         text.substr(position_after(text, whole - (kept - front)));
}

std::vector<std::string> wrapped(const std::string& text, std::size_t width) {
  std::vector<std::string> lines(1);
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t space = std::min(text.find(' ', at), text.size());
    const std::string word = text.substr(at, space - at);
    const bool is_full = width != 0 && !lines.back().empty() && width_of(lines.back()) + 1 + width_of(word) > width;
    if (is_full) lines.emplace_back();
    if (at != 0 && !is_full) lines.back() += ' ';
    lines.back() += word;
    at = space + 1;
  }
  return lines;
}

bool is_printable(std::string_view text) {
  constexpr std::string_view plain = "\t\n\r\f\\";  // what `escaped_path` escapes, but a terminal may show
  constexpr std::size_t most = 4000;                // `escaped_path` cuts longer text
  std::string left(text);
  std::erase_if(left, [plain](char c) { return plain.find(c) != std::string_view::npos; });
  while (!left.empty()) {
    std::size_t end = std::min(left.size(), most);
    while (end > 1 && end < left.size() && !is_code_point_start(left[end])) --end;
    const std::string piece = left.substr(0, end);
    // A terminal obeys control characters, and shows bytes that are not UTF-8 as anything. No path is made of these.
    if (escaped(piece).find("\\x") != std::string::npos || escaped_path(path_of(piece)) != piece) return false;
    left.erase(0, end);
  }
  return true;
}

}  // namespace onnxar::tool
