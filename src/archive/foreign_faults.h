// Tells from the error of a file that is not an archive whether it may be a foreign zip.
#pragma once

#include "onnxar/error.h"

namespace onnxar {

/// Whether a name breaks a rule that only writers of archives obey. `pack` and `repack` can rename such an entry.
bool is_portable_name_fault(Code code) noexcept;

/// Whether zip files that zip tools write usually have this fault. Damaged files have other faults.
bool is_foreign_fault(Code code) noexcept;

/// Whether a file with this fault may be a foreign zip: the fault concerns its form as a zip, or the position of the
/// model. zip::ForeignDirectory then decides whether the file is read.
bool may_be_foreign_zip(Code code) noexcept;

}  // namespace onnxar
