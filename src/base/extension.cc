#include "base/extension.h"

#include "base/extended_files.h"

namespace onnxar::base {

void Extension::begin(os::Handle file) noexcept {
  if (begun_) return;
  begun_ = true;
  note_extended_file(file, old_size_);
}

void Extension::leave_to_readers(os::Handle file) const noexcept { forget_extended_file(file); }

void Extension::cut_off(os::Handle file) const noexcept {
  if (!begun_) return;  // ftruncate to the present size would still change the file's time
  // If this fails, the bytes after the old end are not a state of an archive, and recovery cuts them off later.
  static_cast<void>(os::set_size(file, old_size_));
  forget_extended_file(file);
}

}  // namespace onnxar::base
