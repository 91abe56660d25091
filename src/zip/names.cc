#include "zip/names.h"

#include <algorithm>
#include <cstdint>

#include "base/ascii_words.h"
#include "base/little_endian.h"
#include "base/text.h"
#include "base/utf8.h"
#include "zip/format.h"

namespace onnxar::zip {
namespace {

/// C identifiers, which nearly all names are, break no rule: seen by words. The last word may overlap the one before.
bool is_plain(std::string_view name) noexcept {
  constexpr std::size_t word = sizeof(std::uint64_t);
  const Bytes bytes = as_bytes(name);
  if (bytes.size() < word) return std::ranges::all_of(name, base::is_identifier_character);
  bool plain = base::is_identifier_word(base::load<std::uint64_t>(bytes, bytes.size() - word));
  for (std::size_t i = 0; i + word <= bytes.size(); i += word) {
    plain &= base::is_identifier_word(base::load<std::uint64_t>(bytes, i));
  }
  return plain;
}

/// REQUIRES: well-formed UTF-8, where no later byte of a character looks like a first one.
bool has_control_character(std::string_view name) noexcept {
  for (; !name.empty(); name.remove_prefix(1)) {
    if (base::begins_with_control(name)) return true;
  }
  return false;
}

bool has_drive_letter(std::string_view name) noexcept {
  return name.size() >= 2 && name[1] == ':' && folded(name[0]) >= 'a' && folded(name[0]) <= 'z';
}

bool has_bad_part(std::string_view name) noexcept {
  while (true) {
    const std::size_t slash = name.find('/');
    const std::string_view part = name.substr(0, slash);
    if (part.empty() || part == "." || part == "..") return true;
    if (slash == std::string_view::npos) return false;
    name.remove_prefix(slash + 1);
  }
}

}  // namespace

std::optional<NameFault> name_fault(std::string_view name) noexcept {
  if (name.empty()) return NameFault{Code::zip_name_empty, "the entry has no name"};
  if (name.size() > name_maximum) return NameFault{Code::zip_name_too_long, "the name is longer than 1024 bytes"};
  if (is_plain(name)) return std::nullopt;
  if (!base::is_utf8(name)) return NameFault{Code::zip_name_encoding, "the name is not UTF-8"};
  if (has_control_character(name)) {
    return NameFault{Code::zip_name_control, "the name has a control character in it"};
  }
  if (name.find('\\') != std::string_view::npos) {
    return NameFault{Code::zip_name_backslash, "the name has a backslash in it; folders are parted by /"};
  }
  if (name.front() == '/') return NameFault{Code::zip_name_absolute, "the name is an absolute path"};
  if (has_drive_letter(name)) return NameFault{Code::zip_name_drive, "the name begins with a drive letter"};
  if (name.back() == '/') return NameFault{Code::zip_name_directory, "the entry is a folder; only files are allowed"};
  if (has_bad_part(name)) return NameFault{Code::zip_name_part, "the name has a part that is empty, \".\" or \"..\""};
  return std::nullopt;
}

std::string folded_copy(std::string_view name) {
  std::string copy(name);
  std::ranges::transform(copy, copy.begin(), folded);
  return copy;
}

bool equal_folded(std::string_view a, std::string_view b) noexcept {
  return std::ranges::equal(a, b, {}, folded, folded);
}

}  // namespace onnxar::zip
