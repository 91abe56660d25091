// Matches names against patterns with the wildcards of shells.
#include "base/glob.h"

#include <cstddef>
#include <optional>

namespace onnxar::base {
namespace {

using ByteSet = std::bitset<256>;

unsigned char byte_of(char c) noexcept { return static_cast<unsigned char>(c); }

bool is_inverse(std::string_view set) noexcept { return set.starts_with("[!") || set.starts_with("[^"); }

/// Returns the set at the front of the pattern, `[a-c]`; empty if there is no set or no bracket closes it. A closing
/// bracket that comes first is a member.
std::string_view set_in(std::string_view pattern) noexcept {
  if (!pattern.starts_with('[')) return {};
  const std::size_t end = pattern.find(']', is_inverse(pattern) ? 3 : 2);
  return end == std::string_view::npos ? std::string_view() : pattern.substr(0, end + 1);
}

ByteSet bytes_of(std::string_view set) {
  const std::size_t end = set.size() - 1;
  ByteSet bytes;
  for (std::size_t at = is_inverse(set) ? 2 : 1; at < end; ++at) {
    const unsigned char low = byte_of(set[at]);
    if (at + 2 < end && set[at + 1] == '-') at += 2;
    for (std::size_t byte = low; byte <= byte_of(set[at]); ++byte) bytes.set(byte);
  }
  return is_inverse(set) ? ~bytes : bytes;
}

}  // namespace

bool is_pattern(std::string_view text) noexcept { return text.find_first_of("*?[") != std::string_view::npos; }

Glob::Glob(std::string_view pattern) {
  while (!pattern.empty()) {
    const char first = pattern.front();
    const std::string_view set = set_in(pattern);
    if (first == '*') {
      items_.push_back({.is_star = true});
    } else {
      items_.push_back({.bytes = !set.empty()   ? bytes_of(set)
                                 : first == '?' ? ~ByteSet()
                                                : ByteSet().set(byte_of(first))});
    }
    pattern.remove_prefix(set.empty() ? 1 : set.size());
  }
}

bool Glob::matches(std::string_view text) const noexcept {
  std::size_t at = 0;  // index in the items
  std::optional<std::size_t> star;
  std::size_t after_star = 0;  // index in the text: where the items after the star are tried next
  for (std::size_t i = 0; i < text.size();) {
    if (at < items_.size() && items_[at].is_star) {
      star = at++;
      after_star = i;
    } else if (at < items_.size() && items_[at].bytes[byte_of(text[i])]) {
      ++at;
      ++i;
    } else if (star) {
      // Retrying the last star suffices: it can match any additional bytes that an earlier star could match. This keeps
      // the cost at O(text * pattern).
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
