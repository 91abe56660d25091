// Makes the folder of a workshop, and removes it with what was written into it.
#include "runtime/workshop.h"

#include <system_error>

#include "base/folder.h"
#include "base/paths.h"
#include "onnxar/error.h"
#include "os/folder.h"
#include "os/names.h"

namespace onnxar {
namespace {

namespace fs = std::filesystem;

constexpr const char* marker = "about";  // makes a folder ours

}  // namespace

Workshop::Workshop(const OwnFolder& folder, const std::string& name)
    : folder_(folder), lock_(folder, name), name_(name + ".part") {
  const base::FolderHandle here = folder_.folder()->handle();
  const bool is_new = base::Folder::make(*folder_.folder(), os::path_of(name_), os::Users::owner);
  std::error_code failed;
  if (os::status_in(here, os::path_of(name_), failed).kind != os::FileKind::folder) {
    throw Error(Code::output_exists, "is a file where a folder is needed; remove it", {}, path());
  }
  const OwnFolder inside(path());
  if (is_new || inside.folder()->is_empty()) inside.remember(marker, {});
  if (!inside.owns(marker)) {
    if (is_new) throw Error(Code::io_failed, std::string(base::cannot_write_into), {}, path());
    throw Error(Code::output_exists, "is not a folder of a stored model, and is not used: remove it", {}, path());
  }
  clear(inside);
}

bool Workshop::is_own(const fs::path& folder) {
  try {
    return base::link_status(folder).type() == fs::file_type::directory && OwnFolder(folder).owns(marker);
  } catch (const Error&) {
    return false;
  }
}

void Workshop::clear(const OwnFolder& inside) {
  for (const char* const each : {model, data, packed}) inside.remove(each);
}

Workshop::~Workshop() {
  try {
    if (!is_held()) return;  // in a forked process
    const OwnFolder inside(path());
    if (!inside.owns(marker)) return;
    clear(inside);
    inside.remove(marker);
    folder_.folder()->remove_folder(name_);
    if (removes_lock_) lock_.remove();
  } catch (const Error&) {  // someone changed the folder: it stays
    return;
  }
}

}  // namespace onnxar
