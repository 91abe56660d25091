// Numbers as text for readers. Programs get exact numbers from `--json`.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace onnxar::tool {

/// Returns `500.1 MB`.
std::string short_size(std::uint64_t bytes);
/// Returns `4.09 G`.
std::string short_count(std::uint64_t count);
/// Returns `25,557,032` for the separator `,`.
std::string grouped(std::uint64_t number, std::string_view separator);

/// Returns `1 tensor` or `2 tensors`.
std::string counted(std::uint64_t count, std::string_view what);
/// Returns `1 entry` or `2 entries`.
std::string counted(std::uint64_t count, std::string_view one, std::string_view several);

/// Names the values that Inspection::statistics counts.
inline constexpr const char* statistics_words = "running means and variances";

}  // namespace onnxar::tool
