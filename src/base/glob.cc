#include "base/glob.h"

#include <array>
#include <cctype>
#include <cstddef>
#include <optional>
#include <utility>

namespace onnxar::base {
namespace {

unsigned char byte_of(char c) noexcept { return static_cast<unsigned char>(c); }

/// A class, such as `[:digit:]`, at the front of `set`: its length, and whether `c` belongs to it.
std::optional<std::pair<std::size_t, bool>> match_class(std::string_view set, char c) noexcept {
  using Class = std::pair<std::string_view, int (*)(int)>;
  static constexpr std::array<Class, 8> classes = {{{"[:alpha:]", std::isalpha},
                                                    {"[:digit:]", std::isdigit},
                                                    {"[:alnum:]", std::isalnum},
                                                    {"[:upper:]", std::isupper},
                                                    {"[:lower:]", std::islower},
                                                    {"[:space:]", std::isspace},
                                                    {"[:punct:]", std::ispunct},
                                                    {"[:xdigit:]", std::isxdigit}}};
  for (const auto& [name, is_one] : classes) {
    if (set.starts_with(name)) return std::pair(name.size(), is_one(byte_of(c)) != 0);
  }
  return std::nullopt;
}

/// The length of the part of the pattern that was compared with one character, and the result.
struct Step {
  std::size_t length;
  bool matched;
};

/// Compares `c` with the set at the front of `pattern`. Empty if the bracket is never closed: then it is a plain
/// character.
std::optional<Step> match_set(std::string_view pattern, char c) noexcept {
  std::size_t at = 1;
  const bool is_inverse = pattern.size() > 1 && (pattern[1] == '!' || pattern[1] == '^');
  if (is_inverse) ++at;
  bool found = false;
  for (const std::size_t first = at; at < pattern.size() && (pattern[at] != ']' || at == first);) {
    if (const auto of_class = match_class(pattern.substr(at), c)) {
      at += of_class->first;
      found = found || of_class->second;
      continue;
    }
    if (pattern[at] == '\\' && at + 1 < pattern.size()) ++at;
    const unsigned char low = byte_of(pattern[at++]);
    unsigned char high = low;
    if (at + 1 < pattern.size() && pattern[at] == '-' && pattern[at + 1] != ']') {
      at += pattern[at + 1] == '\\' && at + 2 < pattern.size() ? 2U : 1U;
      high = byte_of(pattern[at++]);
    }
    found = found || (low <= byte_of(c) && byte_of(c) <= high);
  }
  if (at >= pattern.size()) return std::nullopt;
  return Step{at + 1, found != is_inverse};
}

/// Compares `c` with the front of `pattern`, which is not empty and does not begin with a star.
Step match_one(std::string_view pattern, char c) noexcept {
  if (pattern.front() == '?') return {1, true};
  if (pattern.front() == '[') {
    if (const auto set = match_set(pattern, c)) return *set;
  }
  if (pattern.front() == '\\' && pattern.size() > 1) return {2, pattern[1] == c};
  return {1, pattern.front() == c};
}

}  // namespace

bool is_pattern(std::string_view text) noexcept { return text.find_first_of("*?[") != std::string_view::npos; }

bool matches(std::string_view pattern, std::string_view text) noexcept {
  std::size_t at = 0;  // in the pattern
  std::optional<std::size_t> star;
  std::size_t after_star = 0;  // in the text: where the pattern after the star is tried next
  for (std::size_t i = 0; i < text.size();) {
    if (at < pattern.size() && pattern[at] == '*') {
      star = at++;
      after_star = i;
      continue;
    }
    const Step step = at < pattern.size() ? match_one(pattern.substr(at), text[i]) : Step{0, false};
    if (step.matched) {
      at += step.length;
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
  return pattern.find_first_not_of('*', at) == std::string_view::npos;
}

}  // namespace onnxar::base
