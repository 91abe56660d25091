// Whose rules hold for a zip file.
#pragma once

#include <cstdint>

namespace onnxar::zip {

/// Those of an archive (spec/onnx-archive.md), or those for zips of other programs (spec/other-zips.md).
enum class Rules : std::uint8_t { archive, foreign };

}  // namespace onnxar::zip
