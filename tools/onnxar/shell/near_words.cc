#include "shell/near_words.h"

#include <algorithm>
#include <cstddef>
#include <numeric>

namespace onnxar::tool {
namespace {

/// The number of letters to insert, remove, replace or swap with the next one that make `b` of `a`.
std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before(b.size() + 1), above(b.size() + 1), row(b.size() + 1);
  std::iota(above.begin(), above.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      row[j] = std::min({above[j] + 1, row[j - 1] + 1, above[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1)});
      const bool is_swap = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (is_swap) row[j] = std::min(row[j], before[j - 2] + 1);
    }
    before = above;
    above = row;
  }
  return above[b.size()];
}

}  // namespace

std::string did_you_mean(std::string_view word, const std::vector<std::string>& words) {
  constexpr std::size_t longest = 64;  // the cost is the product of the lengths
  if (words.empty() || word.size() > longest) return {};
  const auto edits = [word](const std::string& each) { return distance(word, each); };
  const auto nearest = std::ranges::min_element(words, {}, edits);
  const std::size_t allowed = std::max<std::size_t>(1, nearest->size() / 3);
  return edits(*nearest) <= allowed ? "; did you mean `" + *nearest + "`?" : std::string();
}

}  // namespace onnxar::tool
