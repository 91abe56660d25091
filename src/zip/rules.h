// Whose rules hold for a zip file.
#pragma once

#include <cstdint>

namespace onnxar::zip {

/// Those of an archive (spec/onnx-archive.md), or those for zip files of any maker (spec/other-zips.md).
enum class Rules : std::uint8_t { archive, any_zip };

}  // namespace onnxar::zip
