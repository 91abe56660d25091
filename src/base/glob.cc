#include "base/glob.h"

#include <array>
#include <cctype>
#include <cstddef>
#include <optional>
#include <utility>

namespace onnxar::base {
namespace {

using ByteSet = std::bitset<256>;

unsigned char byte_of(char c) noexcept { return static_cast<unsigned char>(c); }

ByteSet only(char c) noexcept { return ByteSet().set(byte_of(c)); }

/// A part of a pattern: where it ends, and the bytes that it stands for.
struct Part {
  std::size_t end;
  ByteSet bytes;
};

/// The class, such as `[:digit:]`, at `at` of the pattern.
std::optional<Part> class_at(std::string_view pattern, std::size_t at) {
  using Class = std::pair<std::string_view, int (*)(int)>;
  static const std::array<Class, 8> classes = {{{"[:alpha:]", std::isalpha},
                                                {"[:digit:]", std::isdigit},
                                                {"[:alnum:]", std::isalnum},
                                                {"[:upper:]", std::isupper},
                                                {"[:lower:]", std::islower},
                                                {"[:space:]", std::isspace},
                                                {"[:punct:]", std::ispunct},
                                                {"[:xdigit:]", std::isxdigit}}};
  for (const auto& [name, contains] : classes) {
    if (!pattern.substr(at).starts_with(name)) continue;
    Part part{at + name.size(), {}};
    for (std::size_t byte = 0; byte < part.bytes.size(); ++byte) {
      part.bytes[byte] = contains(static_cast<int>(byte)) != 0;
    }
    return part;
  }
  return std::nullopt;
}

/// Moves `at` past one character, which a backslash may precede. REQUIRES: at < pattern.size()
char read_character(std::string_view pattern, std::size_t& at) noexcept {
  if (pattern[at] == '\\' && at + 1 < pattern.size()) ++at;
  return pattern[at++];
}

/// The member of a set at `at` of the pattern: a class, a range or a character. REQUIRES: at < pattern.size()
Part member_at(std::string_view pattern, std::size_t at) {
  if (auto named = class_at(pattern, at)) return *named;
  const unsigned char low = byte_of(read_character(pattern, at));
  unsigned char high = low;
  if (at + 1 < pattern.size() && pattern[at] == '-' && pattern[at + 1] != ']')
    high = byte_of(read_character(pattern, ++at));
  Part part{at, {}};
  for (std::size_t byte = low; byte <= high; ++byte) part.bytes.set(byte);
  return part;
}

/// For each position in the pattern the end of the set that has a member there, or 0 if no bracket closes it. Filled
/// from the back, so that many brackets that are never closed do not each take a search to the end.
std::vector<std::size_t> ends_of_sets(std::string_view pattern) {
  std::vector<std::size_t> ends(pattern.size() + 1, 0);
  if (pattern.find('[') == std::string_view::npos) return ends;
  for (std::size_t at = pattern.size(); at-- > 0;) {
    ends[at] = pattern[at] == ']' ? at + 1 : ends[member_at(pattern, at).end];
  }
  return ends;
}

/// The set at the bracket at `at` of the pattern. Empty if the bracket is never closed.
std::optional<Part> set_at(std::string_view pattern, std::size_t at, const std::vector<std::size_t>& ends) {
  ++at;
  const bool is_inverse = at < pattern.size() && (pattern[at] == '!' || pattern[at] == '^');
  if (is_inverse) ++at;
  if (at >= pattern.size()) return std::nullopt;
  Part member = member_at(pattern, at);  // a closing bracket is a member here
  const std::size_t end = ends[member.end];
  if (end == 0) return std::nullopt;
  ByteSet bytes = member.bytes;
  while (member.end + 1 < end) {
    member = member_at(pattern, member.end);
    bytes |= member.bytes;
  }
  return Part{end, is_inverse ? ~bytes : bytes};
}

/// The part at `at` of the pattern, which is not a star.
Part part_at(std::string_view pattern, std::size_t at, const std::vector<std::size_t>& ends) {
  if (pattern[at] == '?') return {at + 1, ~ByteSet()};
  if (pattern[at] == '[') {
    const auto set = set_at(pattern, at, ends);
    return set ? *set : Part{at + 1, only('[')};
  }
  const char plain = read_character(pattern, at);
  return {at, only(plain)};
}

}  // namespace

bool is_pattern(std::string_view text) noexcept { return text.find_first_of("*?[") != std::string_view::npos; }

Glob::Glob(std::string_view pattern) {
  const std::vector<std::size_t> ends = ends_of_sets(pattern);
  for (std::size_t at = 0; at < pattern.size();) {
    if (pattern[at] == '*') {
      items_.push_back({.is_star = true});
      ++at;
      continue;
    }
    const Part part = part_at(pattern, at, ends);
    items_.push_back({.bytes = part.bytes});
    at = part.end;
  }
}

bool Glob::matches(std::string_view text) const noexcept {
  std::size_t at = 0;  // in the items
  std::optional<std::size_t> star;
  std::size_t after_star = 0;  // in the text: where the items after the star are tried next
  for (std::size_t i = 0; i < text.size();) {
    if (at < items_.size() && items_[at].is_star) {
      star = at++;
      after_star = i;
    } else if (at < items_.size() && items_[at].bytes[byte_of(text[i])]) {
      ++at;
      ++i;
    } else if (star) {
      // Retrying the last star suffices: any bytes that an earlier star could take in addition, the last one can take
      // too. This keeps the cost at O(text * pattern).
      at = *star + 1;
      i = ++after_star;
    } else {
      return false;
    }
  }
  while (at < items_.size() && items_[at].is_star) ++at;
  return at == items_.size();
}

}  // namespace onnxar::base
