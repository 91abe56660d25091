// The two sets of rules for zip files.
#pragma once

#include <cstdint>

namespace onnxar::zip {

/// `archive`: the strict profile (spec/onnx-archive.md). `foreign`: zip files of other programs (spec/other-zips.md).
enum class Rules : std::uint8_t { archive, foreign };

}  // namespace onnxar::zip
