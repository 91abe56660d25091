// Moves an archive to another folder, and back if what depends on the move fails.
#include "runtime/moved_archive.h"

#include <system_error>
#include <utility>

#include "archive/opening.h"
#include "base/output_target.h"
#include "base/text.h"
#include "onnxar/error.h"
#include "os/error.h"
#include "os/folder.h"

namespace onnxar {

MovedArchive::MovedArchive(const std::filesystem::path& path, std::shared_ptr<const base::Folder> into)
    : lock_(lock_for_planning(path)),
      from_(base::Folder::open(path.parent_path())),
      into_(std::move(into)),
      name_(path.filename()) {
  const std::error_code failed = os::rename_to_free_name(from_->handle(), name_, into_->handle(), name_);
  if (!failed) return;
  switch (os::reason_of(failed)) {
    case os::Reason::exists: throw base::already_exists(into_->path() / name_);
    case os::Reason::outside:
      throw Error(Code::usage_argument,
                  base::concat("is on another disk than ", escaped_path(into_->path()), "; copy it instead"), {}, path);
    default: throw base::system_error(failed, "cannot move the archive into the folder", into_->path());
  }
}

MovedArchive::~MovedArchive() {
  if (is_kept_) return;
  try {
    static_cast<void>(os::rename_to_free_name(into_->handle(), name_, from_->handle(), name_));
  } catch (const Error&) {
    return;  // a folder was moved meanwhile; the archive stays where it is
  }
}

void MovedArchive::keep(bool sync) {
  is_kept_ = true;
  if (!sync) return;
  into_->sync();
  from_->sync();
}

}  // namespace onnxar
