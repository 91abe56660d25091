#include "archive/archive_errors.h"

#include "archive/access.h"
#include "archive/changed.h"
#include "archive/foreign_hint.h"

namespace onnxar {

Error with_archive(const Error& error, const Archive& archive) {
  const base::RangedMemory* const ranges = ArchiveAccess::ranges(archive);
  return with_change(with_foreign_hint(error, archive.file(), ranges).with_path(archive.path()), archive);
}

}  // namespace onnxar
