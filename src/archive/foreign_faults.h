// What the refusal of a file as an archive says about whether it is a foreign zip.
#pragma once

#include "onnxar/error.h"

namespace onnxar {

/// Whether a name broke a rule that only writers of archives keep: `pack` and `repack` can give the entry another one.
bool is_portable_name_fault(Code code) noexcept;

/// Whether this fault is usual in zips that zip tools write. Files that are damaged have other faults.
bool is_foreign_fault(Code code) noexcept;

/// Whether a file with this fault may be a foreign zip: the fault concerns its form as a zip, or the model's place in
/// it. zip::ForeignDirectory then decides whether it is read.
bool may_be_foreign_zip(Code code) noexcept;

}  // namespace onnxar
