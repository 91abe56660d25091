// Searching bytes.
#pragma once

#include <string_view>

namespace onnxar::os {

/// Whether `text` contains `wanted`, by the fastest function that the system has.
bool contains(std::string_view text, std::string_view wanted) noexcept;

}  // namespace onnxar::os
