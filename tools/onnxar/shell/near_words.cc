// Finds the word that was meant.
#include "shell/near_words.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstddef>
#include <numeric>

namespace onnxar::tool {
namespace {

struct Distance {
  std::size_t whole;      ///< the number of letters to insert, remove, replace or swap that make the word
  std::size_t beginning;  ///< as above, for the nearest beginning of what was typed
};

Distance distance(std::string_view typed, std::string_view word) {
  std::vector<std::size_t> before(word.size() + 1), above(word.size() + 1), row(word.size() + 1);
  std::iota(above.begin(), above.end(), std::size_t{0});
  std::size_t beginning = above.back();
  for (std::size_t i = 1; i <= typed.size(); ++i) {
    row[0] = i;
    for (std::size_t j = 1; j <= word.size(); ++j) {
      row[j] = std::min({above[j] + 1, row[j - 1] + 1, above[j - 1] + (typed[i - 1] == word[j - 1] ? 0 : 1)});
      const bool is_swap = i > 1 && j > 1 && typed[i - 1] == word[j - 2] && typed[i - 2] == word[j - 1];
      if (is_swap) row[j] = std::min(row[j], before[j - 2] + 1);
    }
    beginning = std::min(beginning, row.back());
    before = above;
    above = row;
  }
  return {above.back(), beginning};
}

/// Returns the word with the smallest distance of this kind, if that is small; otherwise null.
const std::string* nearest(std::string_view typed, const std::vector<std::string>& words,
                           std::size_t Distance::* kind) {
  const auto edits = [&](const std::string& word) { return distance(typed, word).*kind; };
  const auto found = std::ranges::min_element(words, {}, edits);
  if (found == words.end()) return nullptr;
  return edits(*found) <= std::max<std::size_t>(1, found->size() / 3) ? &*found : nullptr;
}

/// Returns the only word that begins so, if four letters or more were typed; otherwise null.
const std::string* completed(std::string_view typed, const std::vector<std::string>& words) {
  constexpr std::size_t few = 4;
  const auto begins = [typed](const std::string& word) { return word.starts_with(typed); };
  if (typed.size() < few || std::ranges::count_if(words, begins) != 1) return nullptr;
  return &*std::ranges::find_if(words, begins);
}

}  // namespace

std::string did_you_mean(std::string_view typed, const std::vector<std::string>& words) {
  constexpr std::size_t longest = 64;  // the cost is the product of the lengths
  if (typed.size() > longest) return {};
  const std::string folded = CLI::detail::to_lower(std::string(typed));
  const std::string* meant = completed(folded, words);
  if (meant == nullptr) meant = nearest(folded, words, &Distance::whole);
  if (meant == nullptr) meant = nearest(folded, words, &Distance::beginning);
  return meant == nullptr ? std::string() : "; did you mean `" + *meant + "`?";
}

}  // namespace onnxar::tool
