// Parses the head of an answer of HTTP: range, version and parts.
#include "remote/answer.h"

#include <algorithm>
#include <charconv>

#include "base/checked.h"
#include "base/text.h"

namespace onnxar {
namespace {

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view blanks = " \t\r\n";
  const std::size_t begin = text.find_first_not_of(blanks);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(blanks) - begin + 1);
}

/// Takes a number that consists only of decimal digits from the front of `text`.
std::optional<std::uint64_t> take_number(std::string_view& text) {
  std::uint64_t number = 0;
  const char* const begin = text.data();
  const auto [next, failed] = std::from_chars(begin, begin + text.size(), number);
  if (failed != std::errc()) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(next - begin));
  return number;
}

std::optional<std::uint64_t> number_in(std::string_view text) {
  const auto number = take_number(text);
  return text.empty() ? number : std::nullopt;
}

bool take(std::string_view& text, std::string_view expected) {
  if (!text.starts_with(expected)) return false;
  text.remove_prefix(expected.size());
  return true;
}

/// Returns the boundary in a Content-Type, or nothing.
std::string boundary_in(std::string_view type) {
  constexpr std::string_view key = "boundary=";
  const std::size_t at = base::folded_copy(type).find(key);
  if (at == std::string::npos) return {};
  std::string_view found = type.substr(at + key.size());
  if (take(found, "\"")) return std::string(found.substr(0, found.find('"')));
  return std::string(trimmed(found.substr(0, found.find(';'))));
}

/// Takes the fields of a part, up to the empty line, and returns its range.
std::optional<ContentRange> take_part_head(std::string_view& rest) {
  std::optional<ContentRange> range;
  while (true) {
    const std::size_t end = rest.find("\r\n");
    if (end == std::string_view::npos) return std::nullopt;
    const std::string_view line = rest.substr(0, end);
    rest.remove_prefix(end + 2);
    if (line.empty()) return range;
    const std::size_t colon = line.find(':');
    if (colon != std::string_view::npos && base::folded_copy(line.substr(0, colon)) == "content-range") {
      range = parse_content_range(trimmed(line.substr(colon + 1)));
    }
  }
}

}  // namespace

std::string status_text(int status) { return base::concat("the server answers with status ", status); }

bool has_control(std::string_view text) noexcept {
  constexpr char first_printable = ' ';
  constexpr char del = 0x7F;
  return std::ranges::any_of(text, [](char c) { return (c >= 0 && c < first_printable) || c == del; });
}

std::optional<ContentRange> parse_content_range(std::string_view text) {
  if (!take(text, "bytes ")) return std::nullopt;
  const auto first = take_number(text);
  if (!first || !take(text, "-")) return std::nullopt;
  const auto last = take_number(text);
  if (!last || !take(text, "/")) return std::nullopt;
  const auto size = number_in(text);
  if (!size || *first > *last || *last >= *size) return std::nullopt;
  return ContentRange{*first, *last, *size};
}

std::string Version::for_if_range() const {
  const std::string& found = etag.empty() ? last_modified : etag;
  return has_control(found) || found.starts_with("W/") ? std::string() : found;
}

bool Version::agrees(const Version& other) const {
  if (size && other.size && *size != *other.size) return false;
  if (!etag.empty() && !other.etag.empty()) return etag == other.etag;
  return last_modified.empty() || other.last_modified.empty() || last_modified == other.last_modified;
}

void Answer::add_line(std::string_view line) {
  if (line.starts_with("HTTP/")) {
    *this = Answer();
    std::string_view rest = line.substr(std::min(line.find(' '), line.size()));
    rest = trimmed(rest);
    status = static_cast<int>(take_number(rest).value_or(0));
    return;
  }
  is_complete = is_complete || trimmed(line).empty();
  if (is_complete) return;  // trailers, which follow the body, do not count (RFC 9110, 6.5.1)
  const std::size_t colon = line.find(':');
  if (colon == std::string_view::npos) return;
  const std::string name = base::folded_copy(line.substr(0, colon));
  const std::string value(trimmed(line.substr(colon + 1)));
  if (name == "content-range") range_text = value;
  if (name == "content-encoding") encoding = base::folded_copy(value) == "identity" ? std::string() : value;
  if (name == "content-type") type = value;
  if (name == "content-length") length = number_in(value);
  if (name == "location") location = value;
  if (name == "etag") version.etag = value;
  if (name == "last-modified") version.last_modified = value;
  if (name != "retry-after") return;
  if (const auto seconds = number_in(value))
    retry_after = std::chrono::seconds(std::min<std::uint64_t>(*seconds, 3600));
}

std::optional<ContentRange> Answer::range() const {
  return range_text ? parse_content_range(*range_text) : std::nullopt;
}

std::optional<std::vector<RangePart>> parse_multipart(Bytes body, std::string_view content_type) {
  const std::string boundary = boundary_in(content_type);
  if (boundary.empty()) return std::nullopt;
  const std::string delimiter = "--" + boundary;
  std::string_view rest = as_text(body);
  // What precedes the first delimiter has no meaning, and usually is an empty line.
  const std::size_t first = rest.find(delimiter);
  if (first == std::string_view::npos) return std::nullopt;
  rest.remove_prefix(first);
  std::vector<RangePart> parts;
  while (take(rest, delimiter)) {
    if (take(rest, "--")) return parts;
    if (!take(rest, "\r\n")) return std::nullopt;
    const auto range = take_part_head(rest);
    if (!range || range->length() > rest.size()) return std::nullopt;
    const std::string_view bytes = rest.substr(0, base::in_memory(range->length()));
    parts.push_back({*range, as_bytes(bytes)});
    rest.remove_prefix(bytes.size());
    if (!take(rest, "\r\n")) return std::nullopt;
  }
  return std::nullopt;
}

}  // namespace onnxar
