// What tells an archive from a plain zip file.
#pragma once

#include "onnxar/bytes.h"
#include "onnxar/error.h"

namespace onnxar {

/// Whether a zip file has this fault because its maker knew nothing of archives; a broken one has others.
bool is_plain_zip_fault(Code code) noexcept;

/// Whether the zip file is an archive: it opens, and every local header is right. Cost: O(entries).
bool is_archive(Bytes file);

}  // namespace onnxar
