#include "onnxar/error.h"

#include <array>
#include <cstddef>
#include <utility>

#include "base/text.h"
#include "base/utf8.h"

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

/// Any number may come as a Code: a caller casts one, or has one of a later version.
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

std::string line(const std::string& message, const Place& place, const std::filesystem::path& path) {
  std::string file = path.empty() ? std::string() : escaped(path.string()) + ": ";
  return file + where(place) + message;
}

void append_escaped_byte(std::string& text, unsigned char byte) {
  constexpr std::string_view digits = "0123456789abcdef";
  text += "\\x";
  text += digits[byte >> 4U];
  text += digits[byte & 15U];
}

}  // namespace

std::string_view id(Code code) noexcept { return row(code).id; }
Kind kind(Code code) noexcept { return row(code).kind; }

std::string_view to_string(Severity severity) noexcept {
  switch (severity) {
    case Severity::error: return "error";
    case Severity::warning: return "warning";
    case Severity::note: return "note";
  }
  return "error";
}

std::string to_string(const Finding& finding) {
  return base::concat(to_string(finding.severity), "[", id(finding.code), "] ", where(finding.place), finding.message);
}

Error::Error(Code code, const std::string& message, Place place, std::filesystem::path path)
    : std::runtime_error(line(message, place, path)),
      code_(code),
      place_(std::move(place)),
      message_(message),
      path_(std::move(path)) {}

Error Error::with_path(const std::filesystem::path& path) const {
  return path_.empty() ? Error(code_, message_, place_, path) : *this;
}

std::string escaped(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const std::size_t length = base::utf8_sequence_length(text);
    const std::string_view sequence = text.substr(0, length == 0 ? 1 : length);
    if (text.front() == '\\') {
      out += "\\\\";
    } else if (length != 0 && !base::begins_with_control(sequence)) {
      out += sequence;
    } else {
      for (const char c : sequence) append_escaped_byte(out, static_cast<unsigned char>(c));
    }
    text.remove_prefix(sequence.size());
  }
  return out;
}

}  // namespace onnxar
