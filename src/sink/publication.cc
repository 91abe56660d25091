#include "sink/publication.h"

#include <string_view>
#include <system_error>
#include <utility>

#include "archive/output_options.h"
#include "base/paths.h"
#include "base/text.h"
#include "os/names.h"

namespace onnxar {
Publication::~Publication() {
  if (existing_ == base::Existing::replace) return;
  for (base::OutputFile* file : published_) file->withdraw();
}

void Publication::publish(base::OutputFile& file) {
  file.prepare(sync_);
  note_folder(file.folder());
  published_.push_back(&file);  // before it has its name: afterwards, no memory for the note would leave it there
  try {
    // Names are synced by `sync_names`. A sync that fails in here would not tell whether the file has its name.
    file.publish(base::Sync::none);
  } catch (...) {
    published_.pop_back();  // the name is another file's, or free
    file.close();           // withdrawing the others may need the descriptor
    throw;
  }
}

void Publication::note_folder(const std::shared_ptr<const base::Folder>& folder) { unsynced_.insert(folder); }

void Publication::sync_names() {
  const auto folders = std::exchange(unsynced_, {});
  if (sync_ == base::Sync::none) return;
  for (const auto& folder : folders) folder->sync();
}

namespace {

namespace fs = std::filesystem;

Error in_the_way(const fs::path& path, std::string_view what) {
  return {
      Code::usage_argument,
      base::concat(what, ", and a file of the model would be written there; choose a different output folder or name"),
      {},
      path};
}

}  // namespace

void expect_empty(const base::Folder& folder) {
  if (folder.is_empty()) return;
  throw Error(
      Code::output_not_empty,
      "the folder is not empty, and a model and its side files must not be mixed with other files; name a new or "
      "empty folder, or a file for the model alone",
      {}, folder.path());
}

FileTargets::FileTargets(const Destination& destination, const OutputOptions& options)
    : is_folder_(destination.is_folder()), existing_(is_folder_ ? base::Existing::refuse : existing_of(options)) {
  const fs::path& path = destination.path;
  if (is_folder_) {
    find_folder(path);
    model_.path = path / os::path_of(destination.model);
    model_.name = destination.model;
  } else if (base::is_folder(path)) {
    throw Error(
        Code::io_not_a_file,
        "is a folder; name the file to write, or end the path with `/` to write the model and all side files into it",
        {}, path);
  } else {
    model_ = base::find_target(path, existing_);
  }
  files_claimed_.insert(base::folded_copy(os::text_of(model_.path.filename())));
}

void FileTargets::find_folder(const fs::path& path) {
  if (base::is_folder(path)) {
    model_.folder = base::Folder::open(path);
    return expect_empty(*model_.folder);
  }
  model_.folder = base::Folder::open(base::folder_of(path));
  // The status of the path itself: a link that leads nowhere is in the way, too.
  if (fs::exists(base::link_status(path))) {
    throw Error(Code::io_not_a_file, "is not a folder, but the output must be one", {}, path);
  }
  to_make_ = path;
}

void FileTargets::claim(const std::string& name) {
  const fs::path path = model_.path.parent_path() / os::path_of(name);
  // On some file systems, names that differ only in case are one file.
  const std::string small = base::folded_copy(name);
  const std::size_t slash = small.find('/');
  // A file and a folder cannot share a path, so the first folder of a name is claimed with it.
  const std::string first = small.substr(0, slash);
  if (small == base::folded_copy(os::text_of(model_.path.filename()))) throw in_the_way(path, "is the model itself");
  if (files_claimed_.contains(small)) throw in_the_way(path, "is named twice");
  if (files_claimed_.contains(first)) throw in_the_way(path, "is in a folder with the name of another file");
  if (slash == std::string::npos && folders_claimed_.contains(small)) throw in_the_way(path, "is also a folder");
  (slash == std::string::npos ? files_claimed_ : folders_claimed_).insert(first);
  if (slash != std::string::npos) files_claimed_.insert(small);
  if (is_folder_) return;  // the folder is new or empty, so no file is in the way
  const fs::file_status status = base::link_status(path);
  // Only the path of the model is the user's own choice. A link at any other name would lead to a file that the user
  // did not name.
  if (fs::is_symlink(status)) throw in_the_way(path, "is a symbolic link");
  base::expect_writable(path, existing_);
}

}  // namespace onnxar
