// Finds the names that are most similar to one that was not found.
#include "base/near_names.h"

#include <algorithm>
#include <cstdio>
#include <optional>

#include "base/text.h"
#include "onnxar/bytes.h"

namespace onnxar::base {
namespace {

constexpr std::size_t most_names = 5;
/// The longest name that is compared. Longer names are rarely typed by hand, and a comparison takes quadratic time.
constexpr std::size_t longest = 256;

/// Returns the number of insertions, removals and replacements that turn one name into the other (the Levenshtein
/// distance); empty if it exceeds `limit`. Computes one row of the table at a time, and only the cells within `limit`
/// of the diagonal: all others exceed it.
std::optional<std::size_t> distance(std::string_view a, std::string_view b, std::size_t limit) {
  if (std::max(a.size(), b.size()) - std::min(a.size(), b.size()) > limit) return std::nullopt;
  const std::size_t far = limit + 1;
  std::vector<std::size_t> row(b.size() + 1, far);
  for (std::size_t j = 0; j <= std::min(limit, b.size()); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    const std::size_t first = i > limit ? i - limit : 1;
    const std::size_t last = std::min(b.size(), i + limit);
    std::size_t diagonal = row[first - 1];
    row[first - 1] = first == 1 ? std::min(i, far) : far;
    for (std::size_t j = first; j <= last; ++j) {
      const std::size_t replaced = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({replaced, row[j] + 1, row[j - 1] + 1, far});
    }
  }
  if (row[b.size()] > limit) return std::nullopt;
  return row[b.size()];
}

}  // namespace

void NearNames::consider(std::string_view name) {
  if (name.empty() || wanted_.empty() || name.size() > longest || wanted_.size() > longest) return;
  std::optional<std::size_t> far = distance(wanted_, name, std::max<std::size_t>(2, wanted_.size() / 4));
  // Names that merely contain the wanted name rank after all names that differ by a few edits.
  if (!far && name.find(wanted_) != std::string_view::npos) far = name.size();
  if (!far || std::ranges::find(nearest_, name, &std::pair<std::size_t, std::string>::second) != nearest_.end()) return;
  const auto place = std::ranges::upper_bound(nearest_, *far, {}, &std::pair<std::size_t, std::string>::first);
  nearest_.emplace(place, *far, name);
  if (nearest_.size() > most_names) nearest_.pop_back();
}

std::string NearNames::text() const {
  std::string text;
  for (const auto& [far, name] : nearest_) text += (text.empty() ? "; near names: " : ", ") + base::quoted(name);
  return text;
}

}  // namespace onnxar::base
