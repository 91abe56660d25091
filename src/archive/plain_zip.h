// What tells an archive from a plain zip file.
#pragma once

#include "onnxar/bytes.h"
#include "onnxar/error.h"

namespace onnxar {

/// Whether a name broke a rule that only makers of archives keep: `pack` and `repack` can give the entry another one.
bool is_portable_name_fault(Code code) noexcept;

/// Whether a zip file has this fault because its maker knew nothing of archives; a broken one has others.
bool is_plain_zip_fault(Code code) noexcept;

/// Whether a file that is refused as an archive for this fault may be a zip file of another maker: whatever is wrong
/// with its form as a zip, or with the model's place in it. What is read then, zip::ForeignDirectory alone decides.
bool may_be_foreign_zip(Code code) noexcept;

/// Whether the zip file is an archive: it opens, and every local header is right. Cost: O(entries).
bool is_faultless_archive(Bytes file);

}  // namespace onnxar
