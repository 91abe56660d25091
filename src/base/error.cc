// Looks up error codes and hints in their catalogues, and formats errors as one line of plain text.
#include "onnxar/error.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>

#include "base/text.h"
#include "base/utf8.h"
#include "os/names.h"

namespace onnxar {
namespace {

struct CatalogueRow {
  std::string_view id;
  Kind kind;
};

constexpr std::array catalogue = {
#define ONNXAR_CODE(identifier, id, kind) CatalogueRow{id, Kind::kind},
#include "onnxar/error_codes.inc"
#undef ONNXAR_CODE
};

struct HintRow {
  std::string_view id;
  std::string_view words;
};

constexpr std::array hints = {
    HintRow{"", ""},  // Hint::none
#define ONNXAR_HINT(identifier, id, cpp, c, command, python) HintRow{id, cpp},
#include "onnxar/error_hints.inc"
#undef ONNXAR_HINT
};

const HintRow& row(Hint hint) noexcept {
  const auto number = static_cast<std::size_t>(hint);
  return number < hints.size() ? hints[number] : hints[0];
}

/// Returns the row of a code. A Code may hold any number: a caller may cast one, or get one from a later version of the
/// library.
const CatalogueRow& row(Code code) noexcept {
  static constexpr CatalogueRow unknown{"unknown", Kind::usage};
  const auto number = static_cast<std::size_t>(code);
  return number < catalogue.size() ? catalogue[number] : unknown;
}

std::string where(const Place& place) {
  std::string text;
  if (!place.entry.empty()) text = "entry " + base::quoted(place.entry);
  if (place.offset) text += (text.empty() ? "at " : " at ") + base::hex(*place.offset);
  return text.empty() ? text : text + ": ";
}

std::string with_advice(std::string_view message, std::string_view advice) {
  return advice.empty() ? std::string(message) : base::concat(message, "; ", advice);
}

/// Returns the path; without user name, password and query if it is an address, because errors are logged.
std::filesystem::path without_secrets(std::filesystem::path path) {
  std::string text = os::text_of(path);
  const std::size_t scheme = text.find("://");
  if (scheme == std::string::npos) return path;
  const std::size_t begin = scheme + 3;
  const std::size_t at = text.substr(0, text.find('/', begin)).rfind('@');
  if (at != std::string::npos && at >= begin) text.erase(begin, at + 1 - begin);
  return os::path_of(text.substr(0, text.find('?', begin)));
}

std::string whole_line(Code code, const std::string& message, const Place& place, const std::filesystem::path& path,
                       Hint hint, std::string_view advice) {
  const std::string file = path.empty() ? std::string() : escaped_path(path) + ": ";
  if (advice.empty() || !tells_kind(hint)) return file + where(place) + with_advice(message, advice);
  return base::concat(file, advice, " (", id(code), " ", where(place), message, ")");
}

/// Appends `\x1b`, `\u202e` or `\U0001f600`: the letter determines the number of digits.
void append_escape(std::string& text, char letter, unsigned digits, char32_t value) {
  text += '\\';
  text += letter;
  for (unsigned shift = digits * 4; shift != 0; shift -= 4)
    text += base::hexadecimal_digits[(value >> (shift - 4)) & 15U];
}

void append_escaped(std::string& text, char32_t point) {
  if (point == U'\\') {
    text += "\\\\";
    return;
  }
  if (point < 0x80) return append_escape(text, 'x', 2, point);
  if (point < 0x10000) return append_escape(text, 'u', 4, point);
  append_escape(text, 'U', 8, point);
}

bool is_plain_ascii(char32_t point) { return point >= 0x20 && point < 0x7f && point != U'\\'; }

/// True for characters that are invisible or move visible text: control characters, line separators, and the
/// Default_Ignorable code points of Unicode 15, which include direction marks and zero-width characters.
bool is_unseen(char32_t point) {
  using Range = std::pair<char32_t, char32_t>;
  // clang-format off
  constexpr std::array<Range, 19> ranges = {{
      {0x00, 0x1f}, {0x7f, 0x9f}, {0xad, 0xad}, {0x34f, 0x34f}, {0x61c, 0x61c}, {0x115f, 0x1160}, {0x17b4, 0x17b5},
      {0x180b, 0x180f}, {0x200b, 0x200f}, {0x2028, 0x202e}, {0x2060, 0x206f}, {0x3164, 0x3164}, {0xfe00, 0xfe0f},
      {0xfeff, 0xfeff}, {0xffa0, 0xffa0}, {0xfff0, 0xfff8}, {0x1bca0, 0x1bca3}, {0x1d173, 0x1d17a},
      {0xe0000, 0xe0fff}}};
  // clang-format on
  return std::ranges::any_of(ranges,
                             [point](const Range& range) { return point >= range.first && point <= range.second; });
}

/// True for characters that paths show unescaped. A backslash is one of them only where it separates the parts of a
/// path.
bool is_shown_in_paths(char32_t point) {
  return point == U'\\' ? std::filesystem::path::preferred_separator == '\\' : !is_unseen(point);
}

/// Returns `text` with every character escaped for which `is_kept` is false.
template <typename IsKept>
std::string escaped_unless(std::string_view text, const IsKept& is_kept) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const std::size_t length = base::utf8_sequence_length(text);
    const std::string_view sequence = text.substr(0, length == 0 ? 1 : length);
    const char32_t point = base::utf8_code_point(text);
    if (length == 0) {
      append_escape(out, 'x', 2, static_cast<unsigned char>(text.front()));
    } else if (is_kept(point)) {
      out += sequence;
    } else {
      append_escaped(out, point);
    }
    text.remove_prefix(sequence.size());
  }
  return out;
}

}  // namespace

std::string_view id(Code code) noexcept { return row(code).id; }
Kind kind(Code code) noexcept { return row(code).kind; }

std::string_view id(Hint hint) noexcept { return row(hint).id; }

bool tells_kind(Hint hint) noexcept { return id(hint).starts_with("kind."); }

std::string to_string(const Advice& advice) { return filled(row(advice.hint).words, advice); }

std::string filled(std::string_view words, const Advice& advice) {
  constexpr std::string_view mark = "{}";
  std::string text;
  for (;;) {
    const std::size_t at = words.find(mark);
    text += words.substr(0, at);
    if (at == std::string_view::npos) return text;
    text += advice.value;
    words.remove_prefix(at + mark.size());
  }
}

std::string_view to_string(Severity severity) noexcept {
  switch (severity) {
    case Severity::error: return "error";
    case Severity::warning: return "warning";
    case Severity::note: return "note";
  }
  return "error";
}

std::string to_string(const Finding& finding) { return to_string(finding, to_string(finding.advice)); }

std::string to_string(const Finding& finding, std::string_view advice) {
  const std::string severity(to_string(finding.severity));
  const std::string line = whole_line(finding.code, finding.message, finding.place, {}, finding.advice.hint, advice);
  const bool begins_with_kind = !advice.empty() && tells_kind(finding.advice.hint);  // the code is behind it
  return begins_with_kind ? base::concat(severity, ": ", line)
                          : base::concat(severity, "[", id(finding.code), "] ", line);
}

Error::Error(Code code, const std::string& message, Place place, std::filesystem::path path, Advice advice)
    : std::runtime_error(whole_line(code, message, place, without_secrets(path), advice.hint, to_string(advice))),
      code_(code),
      place_(std::move(place)),
      message_(message),
      path_(without_secrets(std::move(path))),
      advice_(std::move(advice)) {}

std::string Error::line(std::string_view advice) const {
  return whole_line(code_, message_, place_, path_, advice_.hint, advice);
}

Error Error::with_path(const std::filesystem::path& path) const {
  return path_.empty() ? Error(code_, message_, place_, path, advice_) : *this;
}

std::string escaped(std::string_view text) { return escaped_unless(text, is_plain_ascii); }

std::string escaped_path(const std::filesystem::path& path) {
  constexpr std::size_t longest = 4096;  // PATH_MAX of Linux; a location in a model can be longer
  const std::string text = os::text_of(path);
  const bool cut = text.size() > longest;
  const std::string shown = escaped_unless(base::utf8_prefix(text, longest), is_shown_in_paths);
  return cut ? base::concat(shown, "... (", text.size(), " bytes)") : shown;
}

}  // namespace onnxar
