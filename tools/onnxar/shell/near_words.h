// Finds the word that was meant.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace onnxar::tool {

/// Returns "; did you mean `pack`?", or an empty text if no word is near: the word that begins as typed, takes the
/// fewest edits, or is nearest to a beginning of what was typed (`--alignment` for `--align`). Ignores case. Cost:
/// O(words * 64^2).
std::string did_you_mean(std::string_view typed, const std::vector<std::string>& words);

}  // namespace onnxar::tool
