// Finds the word that was meant.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace onnxar::tool {

/// Returns `; did you mean "pack"?` for the word that takes the fewest edits, or an empty text if none is near.
std::string did_you_mean(std::string_view word, const std::vector<std::string>& words);

}  // namespace onnxar::tool
